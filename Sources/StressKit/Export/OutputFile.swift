import Foundation

/// A file that is written from front to back, and is there only once it is whole; or standard output.
///
/// A pipe or a device, which cannot be replaced by a file, is written to as it comes.
final class OutputFile {
  private let path: String?
  /// Where a file is written before it takes its place; nil for what is written to directly.
  private let partial: String?
  private let handle: FileHandle?
  private var buffer: [UInt8] = []

  /// Opens it, so that what cannot be written is known before there is anything to write.
  ///
  /// - Parameter path: the file, which is replaced if it is there; nil for standard output.
  init(_ path: String?) throws {
    // What a link leads to is written, and the link stays.
    let target = path.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    self.path = target
    guard let path, let target else {
      (partial, handle) = (nil, nil)
      return
    }
    switch try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType {
    case .typeDirectory?:
      throw CommandFailure("cannot write \(path): it is a folder; name a file in it", status: .badInput)
    case .typeRegular?, nil:
      let partial = "\(target).partial-\(ProcessInfo.processInfo.processIdentifier)"
      self.partial = partial
      _ = FileManager.default.createFile(atPath: partial, contents: nil)
      handle = FileHandle(forWritingAtPath: partial)
    case .some:
      partial = nil
      handle = FileHandle(forWritingAtPath: target)
    }
    guard handle != nil else {
      throw CommandFailure("cannot write \(path): the folder is not there, or not yours to write", status: .badInput)
    }
  }

  deinit {
    // It has been renamed where it was whole.
    if let partial { try? FileManager.default.removeItem(atPath: partial) }
  }

  func write(line: [UInt8]) throws {
    try write(line + [UInt8(ascii: "\n")])
  }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  /// Writes what is left, and puts the file in its place.
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
    guard let path, let handle else { return Console.current.write(buffer) }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      throw CommandFailure("cannot write \(path): \(error.localizedDescription)", status: .badInput)
    }
  }
}
