// The process's part in the tests of a full device. The limit on the size of a file stands for the device.
import Cistern
import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Sets the size that no file of this process can exceed.
func setDevice(_ bytes: Int) {
  var limit = rlimit()
  unsafe getrlimit(fileSizes, &limit)
  limit.rlim_cur = rlim_t(bytes)
  unsafe setrlimit(fileSizes, &limit)
}

#if canImport(Glibc)
  private let fileSizes = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
  private let fileSizes = RLIMIT_FSIZE
#endif

/// Opens a store on a device that has no room for an empty store, and says the code of the error.
func openOnFullDevice() {
  guard let size = Int(CommandLine.arguments[5]) else { exit(2) }
  setDevice(size)
  var options = DiskOptions(limit: .mebibytes(16), layout: .tested, durability: .processCrash)
  options.faults = DiskFaults(isDeviceFull: { true })
  let opened = Result { () throws(CisternError) in
    try DiskTier(directory: "\(CommandLine.arguments[2])/store", options: options) { _ in }
  }
  switch opened {
  case .success: say("open")
  case .failure(let error): say("\(error.code)")
  }
}

/// Fills a store on a device that is smaller than the disk limit, then on a larger one, and checks each step.
///
/// The arguments after the durability are the size of the device and the larger size. Without the word "reported" at
/// the end, the device does not state its free space, as a quota.
///
/// The main thread opens the store, because it does not block the signal `SIGXFSZ` and a new thread inherits its mask.
@MainActor
func fillDevice() async throws {
  guard let small = Int(CommandLine.arguments[5]), let large = Int(CommandLine.arguments[6]) else { exit(2) }
  let device = Guard(small)
  let isReported = CommandLine.arguments.last == "reported"
  let path = "\(CommandLine.arguments[2])/store"
  setDevice(small)
  var options = DiskOptions(limit: .mebibytes(16), layout: .tested, durability: .processCrash)
  options.faults = DiskFaults(
    isDeviceFull: { true },
    freeBytes: {
      guard isReported else { return 1 << 40 }
      var status = stat()
      unsafe stat("\(path)/data.mdb", &status)
      return max(0, device.value.withLock { $0 } - Int(status.st_size))
    })
  let tier = try DiskTier(directory: path, options: options) { report in
    say("report \(report.code) \(report.cause.map { "\($0)" } ?? "")")
  }
  let cache = try tier.partition(named: "cache") { _ in }

  func fill(_ numbers: Range<Int>) async {
    var failed = 0
    for number in numbers {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 3000 + number * 37 % 7000)
      guard case .staged(let ticket) = cache.stage(record(key(number), number, bytes)) else {
        failed += 1
        continue
      }
      do { try await cache.waitForCommit(ticket) } catch { failed += 1 }
    }
    var wrong = 0
    var newest = 0
    for number in 0..<numbers.upperBound {
      let byte = UInt8(truncatingIfNeeded: number)
      let size = 3000 + number * 37 % 7000
      let isRight = cache.withRecord(forKey: key(number).rawSpan) { _, bytes in
        let last = unsafe bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self)
        return bytes.byteCount == size && last == byte
      }
      if isRight == false { wrong += 1 }
      if isRight == true { newest = number }
    }
    let defects = tier.checkInvariants()
    say("\(tier.statistics.entryCount) \(tier.statistics.liveBytes) \(failed) \(wrong + defects.count) \(newest)")
  }
  await fill(0..<1500)
  setDevice(large)
  device.value.withLock { $0 = large }
  await fill(1500..<4000)
  do { try await tier.close() } catch { exit(3) }
  exit(0)
}

/// Overwrites all values of a store together after its device has become full, and prints the number of values, of
/// failed writes, and of defects.
///
/// The arguments after the durability are the number of values and the number of values between two flushes at first.
@MainActor
func overwriteOnFullDevice() async throws {
  guard let count = Int(CommandLine.arguments[5]), let perFlush = Int(CommandLine.arguments[6]) else { exit(2) }
  let path = "\(CommandLine.arguments[2])/store"
  var options = DiskOptions(limit: .mebibytes(12), layout: layout ?? .tested, durability: .processCrash)
  options.faults = DiskFaults(isDeviceFull: { true }, freeBytes: { 0 })
  let tier = try DiskTier(directory: path, options: options) { report in say("report \(report.code)") }
  let cache = try tier.partition(named: "cache") { _ in }
  func stage(_ byte: UInt8, _ numbers: Range<Int>) {
    for number in numbers { _ = cache.stage(record(key(number), number, [UInt8](repeating: byte, count: 900))) }
  }
  for first in stride(from: 0, to: count, by: perFlush) {
    stage(1, first..<min(first + perFlush, count))
    try await tier.flush()
  }
  var status = stat()
  unsafe stat("\(path)/data.mdb", &status)
  setDevice(Int(status.st_size))
  stage(2, 0..<count)
  var failures = 0
  do { try await tier.flush() } catch { failures += 1 }
  let new = (0..<count).count { number in
    cache.withRecord(forKey: key(number).rawSpan) { _, bytes in
      unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 2
    } ?? false
  }
  say("\(new) \(failures) \(tier.checkInvariants().count)")
  exit(0)
}
