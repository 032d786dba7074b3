import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A temporary directory of a test, which is removed when the object is released.
final class Scratch: Sendable {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "cistern-disk-\(UUID().uuidString)"
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      Issue.record(error)
    }
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("left behind: \(path): \(error)")
    }
  }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  var store: String { path + "/store" }
  var dataFile: URL { url("store/data.mdb") }

  var dataFileSize: Int {
    get throws { try dataFile.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
  }

  func names(in folder: String = "store") -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()) ?? []
  }
}
