# Debug Store: backend soft: scripted: no processor was asked.
# event INST_RETIRED.ANY_P:1000:uk
#  records    share   thread                        function
         8  20.51 %   sampled-4:24                  workload_pass
         7  17.95 %   sampled-1:12                  workload_hash
         7  17.95 %   sampled-1:12                  workload_spin
         6  15.38 %   sampled-1:12                  workload_pass
         5  12.82 %   sampled-4:24                  workload_spin
         4  10.26 %   sampled-4:24                  workload_hash
         1   2.56 %   sampled-7:36                  workload_spin
         1   2.56 %   sampled-10:48                 workload_spin
# 39 records; 0 of no certain thread
# lost by the processor: 0
