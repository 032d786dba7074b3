#if !FUZZING
  import Foundation

  /// Runs the target that CISTERN_FUZZ names on each file that the arguments name, without libFuzzer.
  @main
  enum Replay {
    static func main() throws {
      for path in CommandLine.arguments.dropFirst() {
        let input = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        _ = unsafe input.withUnsafeBufferPointer { unsafe fuzzOneInput($0.baseAddress, $0.count) }
        print("\(path): passed")
      }
    }
  }
#endif
