import Foundation

/// A folder that goes with the test.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/cistern-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("could not remove \(path): \(error)")
    }
  }

  /// Writes a file, and tells its path.
  func file(_ name: String, _ content: String) throws -> String {
    try file(name, Array(content.utf8))
  }

  func file(_ name: String, _ content: [UInt8]) throws -> String {
    let file = path + "/" + name
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(content).write(to: URL(fileURLWithPath: file))
    return file
  }
}
