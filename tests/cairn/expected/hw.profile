# Debug Store: backend hw: scripted: no processor was asked.
# event INST_RETIRED.ANY_P:1000:uk
#  records    share   thread
        35  53.03 %   sampled-4:24
        23  34.85 %   sampled-1:12
         3   4.55 %   sampled-19:84
         2   3.03 %   sampled-16:72
         2   3.03 %   sampled-22:96
         1   1.52 %   sampled-13:60
# 66 records; 0 of no certain thread
# lost by the processor: unknown
