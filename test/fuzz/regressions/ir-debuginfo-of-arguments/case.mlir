opencl.function @square(%x : f32) -> f32 {
  opencl.return %x : f32
}
