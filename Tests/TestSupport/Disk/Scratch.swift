import Foundation

/// A temporary directory of a test, which is removed when the object is released.
package final class Scratch: Sendable {
  package let path: String

  package init() {
    path = NSTemporaryDirectory() + "cistern-disk-\(UUID().uuidString)"
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      fatalError("no temporary directory: \(error)")
    }
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("left behind: \(path): \(error)")
    }
  }

  package func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  package var store: String { path + "/store" }
  package var dataFile: URL { url("store/data.mdb") }

  package var dataFileSize: Int {
    get throws { try dataFile.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
  }

  package func names(in folder: String = "store") -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()) ?? []
  }
}
