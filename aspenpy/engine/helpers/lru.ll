; The hits of an LRU cache at one point. A loop that LLVM vectorises calls the function for LANES points instead. Both
; are public: LLVM drops arguments that are constant from functions that nobody else can call.
define double @aspen_lru_hits(double %distance, double %ways, double %lines) noinline nounwind willreturn memory(none) "vector-function-abi-variant"="_ZGV_LLVM_NLANESvvv_aspen_lru_hits(aspen_lru_hits_LANES)" {
  %distances = insertelement <1 x double> poison, double %distance, i32 0
  %all_ways = insertelement <1 x double> poison, double %ways, i32 0
  %all_lines = insertelement <1 x double> poison, double %lines, i32 0
  %hits = call <1 x double> @aspen_lru_hits_1(<1 x double> %distances, <1 x double> %all_ways, <1 x double> %all_lines)
  %result = extractelement <1 x double> %hits, i32 0
  ret double %result
}
