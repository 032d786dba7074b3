import Foundation

/// A directory of its own under the system's temporary one, removed with the object.
package final class ScratchDirectory: Sendable {
  package let path: String

  package init() {
    let url = FileManager.default.temporaryDirectory.appending(path: "cistern-benchmark-\(UUID().uuidString)")
    path = url.path
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      fatalError("no temporary directory: \(error)")
    }
  }

  /// The path of something inside.
  package func callAsFunction(_ name: String) -> String { path + "/" + name }

  deinit { remove() }

  /// Removes it with all that is in it; again has no effect.
  package func remove() {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // What is left behind is in the temporary directory, where the system cleans up.
    do { try FileManager.default.removeItem(atPath: path) } catch { print("could not remove \(path): \(error)") }
  }
}
