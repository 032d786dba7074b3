import Foundation

/// A file that is written from front to back, and is there only once it is whole; or standard output.
final class OutputFile {
  private let path: String?
  private let partial: String
  private let handle: FileHandle?
  private var buffer: [UInt8] = []
  private var isWhole = false

  /// - Parameter path: the file, which is replaced if it is there; nil for standard output.
  init(_ path: String?) throws {
    self.path = path
    partial = (path ?? "") + ".partial"
    guard let path else {
      handle = nil
      return
    }
    guard FileManager.default.createFile(atPath: partial, contents: nil),
      let file = FileHandle(forWritingAtPath: partial)
    else {
      throw CommandFailure("cannot write \(path): the folder is not there, or not yours to write", status: .badInput)
    }
    handle = file
  }

  deinit {
    if path != nil, !isWhole { try? FileManager.default.removeItem(atPath: partial) }
  }

  func write(line: [UInt8]) throws {
    buffer += line
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= 1 << 16 { try flush() }
  }

  /// Writes what is left, and puts the file in its place.
  func finish() throws {
    try flush()
    guard let path, let handle else { return }
    do {
      try handle.close()
      guard unsafe rename(partial, path) == 0 else {
        throw CommandFailure(systemErrorMessage(), status: .badInput)
      }
      isWhole = true
    } catch {
      throw CommandFailure("cannot write \(path): \(error)", status: .badInput)
    }
  }

  private func flush() throws {
    defer { buffer = [] }
    guard let handle else { return Console.current.write(buffer) }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      throw CommandFailure("cannot write \(path ?? partial): \(error.localizedDescription)", status: .badInput)
    }
  }
}
