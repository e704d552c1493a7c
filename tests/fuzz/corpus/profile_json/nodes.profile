{
  "format": 1,
  "checksum": "05771b2fee612962af4de5984ea83ec5",
  "host": {"cpu": "AMD EPYC", "isa": "avx2", "threads": 2},
  "devices": [
    {"kind": "cpu", "threads": 1, "isa": "avx2", "peak_flops": {"f32": 1000000000000.0}, "memory_bandwidth": 100000000000.0, "launch_seconds": 0.0}
  ],
  "nodes": [
    {"signature": "matmul f32[32, 784], f32[784, 256] -> f32[32, 256] #0123 by onednn.matmul (onednn 2.6.3) -, - -> - on cpu avx2 threads 2", "op": "matmul", "dtype": "f32", "kind": "cpu", "kernel": "onednn.matmul", "version": "onednn 2.6.3", "roofline": 1.5e-05, "warm": 2e-05, "cold": 3.25e-05},
    {"signature": "softmax f32[32, 10] -> f32[32, 10] #4567 by reference.eval (eval 1) - -> - on cpu avx2 threads 2", "op": "softmax", "dtype": "f32", "kind": "cpu", "kernel": "reference.eval", "version": "eval 1", "fallback": true, "roofline": 4e-06, "in_steps": 5e-06, "steps": 12}
  ],
  "links": []
}
