{
  "format": 1,
  "checksum": "786625275bb6c5ff24437f3ce8e0278c",
  "host": {"cpu": "AMD EPYC", "isa": "avx2", "threads": 2},
  "devices": [
    {"kind": "cpu", "threads": 1, "isa": "avx2", "peak_flops": {"f32": 1000000000000.0}, "memory_bandwidth": 100000000000.0, "launch_seconds": 0.0},
    {"kind": "cuda", "threads": 1, "isa": "sm_90", "peak_flops": {"f32": 1000000000000.0}, "memory_bandwidth": 100000000000.0, "launch_seconds": 0.0}
  ],
  "nodes": [],
  "links": [
    {"from": "cpu:0", "to": "gpu:0", "bandwidth": 12500000000.0, "latency": 1e-05},
    {"from": "gpu:0", "to": "gpu:1", "bandwidth": 250000000000.0, "latency": 0.0}
  ]
}
