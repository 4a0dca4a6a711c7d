// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py --test-options='integers=1,-2 number=2 text=a.b flag' | filecheck %s
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'test-options{ integers=1,-2 number=2.0 text="a.b" flag=true }' | filecheck %s
// RUN: not tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'test-options{text=7x8,}' 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'test-options{text=7}' | filecheck %s --check-prefix=TEXT
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'test-options' | filecheck %s --check-prefix=DEFAULT

// CHECK: @main() attributes {options = "test-options{integers=1,-2 number=2.0 text=\22a.b\22 flag=true}"}
// VALUE: -p:1:23: error: expected a value
// TEXT: @main() attributes {options = "test-options{text=\227\22}"}
// DEFAULT: @main() attributes {options = "test-options"}
func.func @main() {
  func.return
}
