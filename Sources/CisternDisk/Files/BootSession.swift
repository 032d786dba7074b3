import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The boot session of the system. Its identifier changes with each boot.
enum BootSession {
  /// The identifier, after it was read once. A process lives in one boot session.
  private static let known = Guarded<String?>(nil)

  /// Returns the identifier of the current boot session, or an empty string if the system has none.
  ///
  /// - Throws: `SystemError` if the identifier cannot be read now, for example without a free file descriptor. A mark
  ///   must then be neither compared nor written: the file would count as one of another session.
  static func identifier() throws(SystemError) -> String {
    if let known = known.withLock({ $0 }) { return known }
    let identifier = try read()
    known.withLock { $0 = identifier }
    return identifier
  }

  private static func read() throws(SystemError) -> String {
    #if canImport(Darwin)
      var size = 0
      guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 0 else { return "" }
      var bytes = [UInt8](repeating: 0, count: size)
      guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
      return String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
    #else
      let path = "/proc/sys/kernel/random/boot_id"
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        // A container can hide the file.
        if [ENOENT, ENOTDIR, EACCES, EPERM].contains(errno) { return "" }
        throw SystemError(status: errno, operation: "open \(path)")
      }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else { throw SystemError(status: errno, operation: "read \(path)") }
      return String(decoding: bytes.prefix(count).filter { $0 > 32 && $0 < 127 }, as: UTF8.self)
    #endif
  }
}

/// Returns the identifier of the current boot session, or an empty string if it is not known.
func currentBoot() -> String { (try? BootSession.identifier()) ?? "" }
