#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns all bytes of a file.
func contents(of path: String) -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY)
  defer { close(descriptor) }
  let size = Int(lseek(descriptor, 0, SEEK_END))
  return unsafe [UInt8](unsafeUninitializedCapacity: max(0, size)) { buffer, count in
    count = unsafe max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
  }
}

struct FileFailure: Error {}

/// Replaces the content of the file.
func write(_ bytes: [UInt8], to path: String) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  defer { close(descriptor) }
  let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  if count != bytes.count { throw FileFailure() }
}
