// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @shuffles
// CHECK: %0 = eltwise.shuffle %a, %b [0, 4, 1, 5] : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT: %1 = eltwise.shuffle %x, %y : (f32, f32) -> vector<2xf32>
// CHECK-NEXT: %2 = eltwise.shuffle %a [3] : (vector<4xf32>) -> f32
// CHECK-NEXT: %3 = eltwise.shuffle %x, %a [4, 0] : (f32, vector<4xf32>) -> vector<2xf32>
func.func @shuffles(%a : vector<4xf32>, %b : vector<4xf32>, %x : f32, %y : f32) {
  %0 = eltwise.shuffle %a, %b [0, 4, 1, 5] : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %1 = eltwise.shuffle %x, %y : (f32, f32) -> vector<2xf32>
  %2 = eltwise.shuffle %a [3] : (vector<4xf32>) -> f32
  %3 = eltwise.shuffle %x, %a [4, 0] : (f32, vector<4xf32>) -> vector<2xf32>
  func.return
}
