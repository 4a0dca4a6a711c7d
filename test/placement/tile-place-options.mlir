// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json" devices="near"}' | filecheck %s --check-prefix=ALONE
// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json"}' | filecheck %s --check-prefix=HOST
// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json" inputs="A=far" results="B=anywhere"}' | filecheck %s --check-prefix=THERE
// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json" inputs="A=far","A=near" results="B=near"}' | filecheck %s --check-prefix=BOTH

func.func @main(%A : tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tile.inputs = ["A"], tile.outputs = ["B"]} {
  %B = eltwise.tanh %A : tensor<4096x4096xf32>
  func.return %B : tensor<4096x4096xf32>
}
// ALONE: tile.device = "near", tile.device_reason = "the only device; {{.*}}"
// HOST:  tile.device = "near"
// THERE: tile.device = "far"
// BOTH:  tile.device = "near"
