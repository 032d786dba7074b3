import Foundation

/// The program `cistern`, which is built with the tests.
enum BuiltProgram {
  /// Returns the path of the program, which is near the test bundle.
  static func path() throws -> String {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<4 {
      let file = folder.appendingPathComponent("CisternCommand")
      if FileManager.default.isExecutableFile(atPath: file.path) { return file.path }
      folder.deleteLastPathComponent()
    }
    throw CocoaError(.fileNoSuchFile)
  }
}
