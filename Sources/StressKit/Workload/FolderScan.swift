import Foundation

/// Collects the files of a folder, once, before a run.
enum FolderScan {
  struct File: Sendable, Equatable {
    /// Below the folder.
    let path: String
    let size: Int
  }

  /// Larger files are left out: they would be refused by every tier that a stress run is given.
  static let largestFile = 1 << 20
  /// More files than these are left out.
  static let mostFiles = 100_000

  /// The folder's regular files in order of their paths; hidden ones and those of hidden folders are left out, and those
  /// with a question mark in their names, behind which an address has its query.
  static func files(in folder: String) throws -> [File] {
    var isDirectory: ObjCBool = false
    // The flag is the callee's for the call only.
    guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) else {
      throw CommandFailure("the folder \(folder) does not exist", status: .badInput)
    }
    guard isDirectory.boolValue else {
      throw CommandFailure("\(folder) is no folder: give one whose files are to be served", status: .badInput)
    }
    let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    guard
      let enumerator = FileManager.default.enumerator(
        at: URL(fileURLWithPath: root), includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey],
        options: [.skipsHiddenFiles])
    else {
      throw CommandFailure("the folder \(folder) cannot be read", status: .badInput)
    }
    var files: [File] = []
    for case let url as URL in enumerator {
      let properties = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      guard properties.isRegularFile == true, let size = properties.fileSize, size <= largestFile else { continue }
      guard !url.path.contains("?"), FileManager.default.isReadableFile(atPath: url.path) else { continue }
      files.append(File(path: String(url.path.dropFirst(root == "/" ? 1 : root.count + 1)), size: size))
      if files.count >= mostFiles { break }
    }
    guard !files.isEmpty else {
      throw CommandFailure(
        "the folder \(folder) has no files to serve (left out are hidden ones, those over 1 MiB, and those with a question mark in their names)",
        status: .badInput)
    }
    return files.sorted { $0.path < $1.path }
  }
}
