import Foundation

/// The directory of a store inside the temporary directory.
extension TemporaryDirectory {
  package var store: String { self("store") }
  package var dataFile: URL { url("store/data.mdb") }

  package var dataFileSize: Int {
    get throws { try dataFile.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
  }

  package func url(_ name: String) -> URL { URL(fileURLWithPath: self(name)) }

  package func names(in folder: String = "store") -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: self(folder)).sorted()) ?? []
  }
}
