__device__ unsigned step(unsigned state) { return state * 1664525U + 1013904223U; }
