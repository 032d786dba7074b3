import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A test for free space on a device.
///
/// LMDB reports the same error when the system cuts a write short and when a write fails. This test distinguishes a
/// full device from a failing one.
enum DeviceSpace {
  /// The size of the test file in bytes. It is larger than the free part of a block that a short write can leave.
  private static let probeSize = 256 << 10

  /// Returns whether the directory's device, or the user's quota, has no space for a small file.
  ///
  /// Creates and removes such a file. Also returns true if the process may not make the data file larger.
  static func isExhausted(in directory: String) -> Bool {
    if isAtLargestSize("\(directory)/\(DiskDirectory.data)") { return true }
    let path = "\(directory)/\(DiskDirectory.probe)"
    let descriptor = unsafe open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return SystemError.isAboutSpace(errno) }
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    let bytes = [UInt8](repeating: 0, count: probeSize)
    var written = 0
    while written < probeSize {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, probeSize - written) }
      if count < 0 { return SystemError.isAboutSpace(errno) }
      if count == 0 { return true }
      written += count
    }
    return false
  }

  /// Returns whether the process's limit on file sizes prevents a further page of the file.
  private static func isAtLargestSize(_ path: String) -> Bool {
    #if canImport(Glibc)
      let fileSizes = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
      let fileSizes = RLIMIT_FSIZE
    #endif
    var (file, limit) = (stat(), rlimit())
    guard unsafe stat(path, &file) == 0, unsafe getrlimit(fileSizes, &limit) == 0 else { return false }
    return rlim_t(file.st_size) + rlim_t(DiskLimits.pageSize) > limit.rlim_cur
  }

  /// Returns the bytes of the device that this user can still fill, or nil if they are unknown.
  ///
  /// The number ignores quotas.
  static func freeBytes(in directory: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(directory, &status) == 0 else { return nil }
    let (bytes, overflow) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
    return overflow ? nil : bytes
  }
}

extension DiskOptions {
  /// Returns the bytes of the directory's device that this user can still fill, or nil if they are unknown.
  func freeBytes(in directory: String) -> Int? { faults.freeBytes?() ?? DeviceSpace.freeBytes(in: directory) }

  /// Returns the error, or an error with the code `noSpace` if the directory's device is full.
  ///
  /// LMDB reports a write that the system cut short in the same way as a failed write.
  func diagnosis(of error: LMDBError, in directory: String) -> LMDBError {
    guard error.code == .ioError, faults.isDeviceFull?() ?? DeviceSpace.isExhausted(in: directory) else { return error }
    return LMDBError(.noSpace, operation: error.operation, message: "the device has no space for the complete write")
  }
}
