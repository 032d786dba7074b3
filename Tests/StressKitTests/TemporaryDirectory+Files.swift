import Foundation
import TestDirectories

extension TemporaryDirectory {
  /// Creates a pipe that sends these bytes to its first reader, and returns its path.
  ///
  /// The sender has its own thread: it blocks until a reader opens the pipe, and must not block a task of the
  /// reader's pool.
  func pipe(_ name: String, sending bytes: [UInt8]) throws -> String {
    let path = path + "/" + name
    guard unsafe mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    Thread.detachNewThread {
      // A reader that ends early must not end the process: the signal of a write goes to its own thread.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      do {
        let file = FileHandle(forWritingAtPath: path)
        try file?.write(contentsOf: bytes)
        try file?.close()
      } catch {
        print("could not write to \(path): \(error)")
      }
    }
    return path
  }

  /// Writes a file and returns its path.
  func file(_ name: String, _ content: String) throws -> String {
    try file(name, Array(content.utf8))
  }

  func file(_ name: String, _ content: [UInt8]) throws -> String {
    let file = path + "/" + name
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(content).write(to: URL(fileURLWithPath: file))
    return file
  }
}
