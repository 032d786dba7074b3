import Foundation

/// A new directory in the system's temporary directory. The deinitializer removes it with its content.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() {
    let url = FileManager.default.temporaryDirectory.appending(path: "cistern-temporary-\(UUID().uuidString)")
    path = url.path
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      fatalError("no temporary directory: \(error)")
    }
  }

  deinit { remove() }

  /// Returns the path of an item inside the directory.
  package func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Removes the directory with its content. Further calls have no effect.
  package func remove() {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // After an error, the system cleans up the temporary directory.
    do { try FileManager.default.removeItem(atPath: path) } catch { print("could not remove \(path): \(error)") }
  }
}
