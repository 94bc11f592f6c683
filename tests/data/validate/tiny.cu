// The source of the cubins beside it (README.md).
__device__ int twice(int x);
extern "C" __global__ void tiny(int* out) { out[0] = 42; }
#ifdef LINKED
extern "C" __global__ void uses_twice(int* out) { out[0] = twice(21); }
#endif
#ifdef TWICE
__device__ int twice(int x) { return 2 * x; }
#endif
