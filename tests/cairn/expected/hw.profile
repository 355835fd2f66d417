# Debug Store: backend hw: scripted: no processor was asked.
# event INST_RETIRED.ANY_P:1000:uk
#  records    share   thread
        32  42.67 %   sampled-1:12
        24  32.00 %   sampled-4:24
         4   5.33 %   sampled-10:48
         4   5.33 %   sampled-19:84
         3   4.00 %   sampled-7:36
         3   4.00 %   sampled-13:60
         3   4.00 %   sampled-16:72
         2   2.67 %   sampled-22:96
# 75 records; 0 of no certain thread
# lost by the processor: unknown
