#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether a device has room. LMDB answers that a write failed when the system took only a part of it; the cause is that
/// the device is full, or that it fails.
enum DeviceSpace {
  /// More than the part of a block that a short write leaves.
  private static let probeSize = 256 << 10

  /// Whether the directory's device, or the user's share of it, has no room for a small file. Writes that file.
  static func isExhausted(in directory: String) -> Bool {
    let path = "\(directory)/\(DiskDirectory.probe)"
    let descriptor = unsafe open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return isAboutSpace(errno) }
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    let bytes = [UInt8](repeating: 0, count: probeSize)
    var written = 0
    while written < probeSize {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, probeSize - written) }
      if count < 0 { return isAboutSpace(errno) }
      if count == 0 { return true }
      written += count
    }
    return false
  }

  private static func isAboutSpace(_ status: Int32) -> Bool { status == ENOSPC || status == EDQUOT }
}
