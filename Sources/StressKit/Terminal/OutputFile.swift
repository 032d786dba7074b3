import Foundation
import InputFormats

/// A file that appears only when it is complete, or standard output.
///
/// A pipe or a device cannot be replaced by a file, so it receives the bytes immediately.
final class OutputFile {
  private let path: String?
  /// The path of the temporary file that replaces the target at the end. It is nil if the bytes go directly to the
  /// target.
  let partial: String?
  private let handle: FileHandle?
  private var buffer: [UInt8] = []

  /// Opens the file for writing, so that an error is known before the output exists.
  ///
  /// - Parameter path: The path of the file, which replaces an existing file; nil or `-` for standard output.
  /// - Throws: An error if the file cannot be opened.
  init(_ path: String?) throws {
    let path = path == "-" ? nil : path
    // If the path is a symbolic link, the target of the link is written, and the link stays.
    let target = try path.map { try OutputFile.target(of: $0) }
    self.path = target
    guard let path, let target else {
      (partial, handle) = (nil, nil)
      return
    }
    // A path that cannot be examined counts as absent. The guard below throws if its folder is unusable.
    let former = try? FileManager.default.attributesOfItem(atPath: target)
    switch former?[.type] as? FileAttributeType {
    case .typeDirectory?:
      throw CommandFailure("cannot write \(path): it is a folder; choose a file in it", status: .badInput)
    case .typeRegular?, nil:
      let files = PartialFiles(of: target)
      files.removeAbandoned()
      let partial = files.path
      self.partial = partial
      handle = OutputFile.create(partial, permissions: former?[.posixPermissions] as? Int)
    case .some:
      partial = nil
      handle = FileHandle(forWritingAtPath: target)
    }
    guard handle != nil else {
      var folder = "the folder"
      if case .danglingLink = PathState(path) { folder = "it is a symbolic link to '\(target)', whose folder" }
      throw CommandFailure("cannot write \(path): \(folder) does not exist, or is not writable", status: .badInput)
    }
  }

  /// Returns the path that the symbolic links of `path` lead to, which need not exist.
  private static func target(of path: String) throws -> String {
    var target = path
    while true {
      switch PathState(target) {
      case .danglingLink(let destination):
        // The system finds the end of each chain of links, so this loop ends, too.
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().resolvingSymlinksInPath().path
        target = destination.hasPrefix("/") ? destination : folder + "/" + destination
      case .linkLoop:
        throw CommandFailure(
          "cannot write \(path): it leads to a symbolic link that leads back to itself", status: .badInput)
      case .present, .absent, .unreadable: return URL(fileURLWithPath: target).resolvingSymlinksInPath().path
      }
    }
  }

  /// Creates an empty file.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A file of an earlier process with this path is removed.
  ///   - permissions: The permissions of the file that this one replaces, or nil for those of a new file.
  /// - Returns: The open file, or nil if it could not be created.
  private static func create(_ path: String, permissions: Int?) -> FileHandle? {
    // If a file cannot be removed, the creation fails.
    try? FileManager.default.removeItem(atPath: path)
    // The other users of the system never see more than the permissions allow. The system applies the mask of the
    // process to those of a new file.
    let mode = mode_t(permissions == nil ? 0o666 : 0o600)
    // The path is a terminated string during the call.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { return nil }
    // A file system without permissions refuses the change. The file is then as it was created.
    if let permissions { _ = fchmod(descriptor, mode_t(permissions & 0o777)) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Whether further output can be received. Standard output has no reader after that of a pipe has ended.
  var hasReader: Bool { path != nil || Console.current.hasReader }

  deinit {
    // A complete file has been renamed, and no longer has this path.
    if let partial { try? FileManager.default.removeItem(atPath: partial) }
  }

  func write(line: [UInt8]) throws {
    try write(line + [UInt8(ascii: "\n")])
  }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  /// Writes the rest of the output, and renames the file to its final path.
  func finish() throws {
    try flush()
    guard let path, let handle else { return }
    do {
      try handle.close()
      if let partial, unsafe rename(partial, path) != 0 {
        throw CommandFailure(systemErrorMessage(), status: .badInput)
      }
    } catch {
      throw CommandFailure("cannot write \(path): \(error)", status: .badInput)
    }
  }

  private func flush() throws {
    defer { buffer = [] }
    guard let path, let handle else {
      Console.current.write(buffer)
      return try Console.current.requireOutput()
    }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      throw CommandFailure("cannot write \(path): \(error.localizedDescription)", status: .badInput)
    }
  }
}
