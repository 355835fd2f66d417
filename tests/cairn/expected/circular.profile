# Debug Store: backend soft: scripted: no processor was asked.
# event INST_RETIRED.ANY_P:1000:uk
#  records    share   thread
        19  33.93 %   sampled-4:24
        13  23.21 %   sampled-1:12
         9  16.07 %   ambiguous: switches missing
         7  12.50 %   sampled-19:84
         5   8.93 %   sampled-22:96
         2   3.57 %   sampled-16:72
         1   1.79 %   sampled-7:36
# 56 records; 9 of no certain thread
# lost by the processor: 0
