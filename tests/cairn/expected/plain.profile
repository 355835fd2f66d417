# Debug Store: backend soft: the processor is AuthenticAMD: AMD has no Debug
# Store (its precise sampling is IBS)
# event INST_RETIRED.ANY:2003:uk
#  records    share   function
        34  52.31 %   kpart_compute
         6   9.23 %   kwait
         5   7.69 %   ds_pause
         4   6.15 %   sleep_and_wake
         3   4.62 %   fight
# and 10 more rows (--top N)
# 65 records; 0 of no certain thread
# lost by the processor: 0
