#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Locking

/// Reads parts of a data file. The file is not mapped: if another process truncates it, a read throws instead of
/// killing the process.
struct DataFileReader: ~Copyable {
  private let descriptor: Int32
  /// The size of the file in bytes when it was opened.
  let size: Int
  /// The page size in bytes. It is correct after the first page was read.
  var pageSize = MetaPage.smallestPageSize
  private(set) var pagesRead = 0

  /// Opens the file. Returns nil if the file is missing.
  static func openFile(_ path: String) throws(SystemError) -> Int32? {
    // `O_NONBLOCK` prevents a wait for a writer if the path leads to a pipe.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor >= 0 { return descriptor }
    let status = errno
    if status == ENOENT || status == ENOTDIR { return nil }
    throw SystemError(status: status, operation: "open \(path)")
  }

  /// Takes ownership of an open file. Throws if it is not a regular file.
  init(_ descriptor: Int32) throws(DataFileDamage) {
    self.descriptor = descriptor
    var status = stat()
    let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    if !isFile { throw DataFileDamage("the data file is not a regular file") }
  }

  deinit { close(descriptor) }

  /// Returns a whole page. Throws if the file does not contain it.
  mutating func page(_ number: UInt64) throws(DataFileDamage) -> [UInt8] {
    try bytes(pageSize, of: number, at: 0)
  }

  /// Returns `count` bytes from an offset in a page, which may extend into the pages after it. Throws if the file
  /// does not contain them.
  mutating func bytes(_ count: Int, of page: UInt64, at offset: Int) throws(DataFileDamage) -> [UInt8] {
    pagesRead += 1
    let start = Int(page) * pageSize + offset
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count {
        // Within the buffer, which has room for `count` bytes.
        let step = unsafe pread(descriptor, buffer.baseAddress! + done, count - done, off_t(start + done))
        if step < 0, errno == EINTR { continue }
        if step < 0 { failure = errno }
        if step <= 0 { break }
        done += step
      }
    }
    guard bytes.count == count else {
      let reason =
        failure == 0 ? "the file ends within it" : unsafe "it cannot be read: \(String(cString: strerror(failure)))"
      throw DataFileDamage(page: page, reason)
    }
    return bytes
  }
}
