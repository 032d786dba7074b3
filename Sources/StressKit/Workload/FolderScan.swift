import Foundation

/// The files of a folder, which a run serves.
enum FolderScan {
  struct File: Sendable, Equatable {
    /// The path relative to the folder.
    let path: String
    let size: Int
  }

  /// The maximum size of a served file in bytes. Every tier of a stress run would refuse a larger one.
  static let largestFile = 1 << 20
  /// The maximum number of served files.
  static let mostFiles = 100_000

  /// Returns the regular files of a folder, in the order of their paths.
  ///
  /// Hidden files and folders are left out. Files with a question mark in their paths are left out, too, because a
  /// query begins there in an address. Paths that differ only in their Unicode form are equal strings, and the keys of a
  /// run must differ. One of such files is returned.
  static func files(in folder: String) throws -> [File] {
    var isDirectory: ObjCBool = false
    // The call writes the flag, and does not keep its address.
    guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) else {
      throw CommandFailure("the folder \(folder) does not exist", status: .badInput)
    }
    guard isDirectory.boolValue else {
      throw CommandFailure("\(folder) is not a folder: choose a folder with files to serve", status: .badInput)
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
    var paths: Set<String> = []
    for case let url as URL in enumerator {
      let properties = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      guard properties.isRegularFile == true, let size = properties.fileSize, size <= largestFile else { continue }
      guard !url.path.contains("?"), FileManager.default.isReadableFile(atPath: url.path) else { continue }
      let path = String(url.path.dropFirst(root == "/" ? 1 : root.count + 1))
      guard paths.insert(path).inserted else { continue }
      files.append(File(path: path, size: size))
      if files.count >= mostFiles { break }
    }
    guard !files.isEmpty else {
      throw CommandFailure(
        "the folder \(folder) has no files to serve (hidden files, files over 1 MiB, and files with a question mark in their paths are left out)",
        status: .badInput)
    }
    return files.sorted { $0.path < $1.path }
  }
}
