#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a data file piece by piece. It is not mapped: a file that somebody cuts off meanwhile is an error, and not the
/// end of the process.
struct DataFileReader: ~Copyable {
  private let descriptor: Int32
  /// The file's bytes when it was opened.
  let size: Int
  /// Known once the first page was read.
  var pageSize = MetaPage.smallestPageSize
  private(set) var pagesRead = 0

  /// Opens the file; nil where there is none, or none that may be read: whoever opens it with LMDB is told why.
  static func openFile(_ path: String) -> Int32? {
    // Not to wait for a writer, where it is a pipe.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    return descriptor >= 0 ? descriptor : nil
  }

  /// Takes over an open file; throws where it is something else.
  init(_ descriptor: Int32) throws(DataFileDamage) {
    self.descriptor = descriptor
    var status = stat()
    let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    if !isFile { throw DataFileDamage("it is not a file") }
  }

  deinit { close(descriptor) }

  /// A whole page, which must lie in the file.
  mutating func page(_ number: UInt64) throws(DataFileDamage) -> [UInt8] {
    try bytes(pageSize, of: number, at: 0)
  }

  /// So many bytes from a place in a page, which must lie in the file, on; they may go on in the pages behind it.
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
        failure == 0 ? "the file ends in it" : unsafe "it cannot be read: \(String(cString: strerror(failure)))"
      throw DataFileDamage(page: page, reason)
    }
    return bytes
  }
}
