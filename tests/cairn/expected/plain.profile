# Debug Store: backend soft: the processor is AuthenticAMD: AMD has no Debug
# Store (its precise sampling is IBS)
# event INST_RETIRED.ANY:2003:uk
#  records    share   function
        52  66.67 %   kpart_compute
         7   8.97 %   kwait
         4   5.13 %   ds_pause
         3   3.85 %   kevent_set
         2   2.56 %   fight
# and 8 more rows (--top N)
# 78 records; 0 of no certain thread
# lost by the processor: 0
