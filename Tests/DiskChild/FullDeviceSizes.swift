// The process's part in the tests of values of many sizes on a full device.
import Cistern
import CisternDisk
import CisternTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes values of random sizes under random keys to a store on a small device, and checks all values that the store
/// has.
///
/// The arguments after the durability are the disk limit, the size of the device, the greatest size of a value, the
/// seed, and the number of values. Zero as the size of the device stands for the device of the directory. The process
/// prints the number of entries, the median of their bytes after each of the last commits, the number of calls that
/// failed, and the number of wrong values and defects. A commit has about 50 values, or a 32nd of the device if the
/// arguments have the word "small-commits".
@MainActor
func writeSizesOnDevice() async throws {
  let numbers = CommandLine.arguments[5..<10].compactMap { Int($0) }
  guard numbers.count == 5 else { exit(2) }
  let (limit, device, greatest, count) = (numbers[0], numbers[1], numbers[2], numbers[4])
  if device > 0 { setDevice(device) }
  var options = DiskOptions(limit: .bytes(limit), layout: layout ?? .tested, durability: .processCrash)
  // The flushes commit, also on a slow machine.
  options.commitInterval = .seconds(10_000_000)
  let tier = try DiskTier(directory: "\(CommandLine.arguments[2])/store", options: options) { report in
    say("report \(report.code) \(report.cause.map { "\($0)" } ?? "")")
  }
  let cache = try tier.partition(named: "cache") { _ in }
  var generator = SeededGenerator(seed: UInt64(numbers[3]))
  var failures = 0
  var newest: [Int: Int] = [:]
  var bytesAfterCommits: [Int] = []
  // A commit of a great part of the device makes an ordered file evict as much before it.
  let isInSmallCommits = CommandLine.arguments.contains("small-commits")
  let bytesOfCommit = isInSmallCommits ? (device > 0 ? min(device, limit) : limit) / 32 : 25 * greatest
  var stagedBytes = 0
  for number in 1...count {
    let name = Int.random(in: 0..<5000, using: &generator)
    let size = Int.random(in: 1...greatest, using: &generator)
    let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
    if case .staged = cache.stage(record(key(name), number, bytes)) { newest[name] = size } else { failures += 1 }
    stagedBytes += size
    guard stagedBytes >= bytesOfCommit || number == count else { continue }
    stagedBytes = 0
    do { try await tier.flush() } catch { failures += 1 }
    bytesAfterCommits.append(tier.statistics.liveBytes)
  }
  let lastBytes = bytesAfterCommits.suffix(bytesAfterCommits.count * 2 / 3).sorted()
  var wrong = 0
  for name in 0..<5000 {
    let isRight = cache.withRecord(forKey: key(name).rawSpan) { _, bytes in
      let byte = UInt8(truncatingIfNeeded: newest[name] ?? bytes.byteCount)
      // A key that this process did not write has the value of an earlier process.
      guard bytes.byteCount == newest[name] ?? bytes.byteCount else { return false }
      return (0..<bytes.byteCount).allSatisfy { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == byte }
    }
    if isRight == false { wrong += 1 }
  }
  let defects = tier.checkInvariants().count
  do { try await tier.close() } catch { failures += 1 }
  say("\(tier.statistics.entryCount) \(lastBytes[lastBytes.count / 2]) \(failures) \(wrong + defects)")
  exit(0)
}

/// Lets a commit fail like a write that the process's limit on file sizes cut short, and says the code of the flush's
/// error.
@MainActor
func writeAtLargestSize() async throws {
  let isFailing = Guard(false)
  var options = DiskOptions(limit: .mebibytes(16), layout: layout ?? .tested, durability: .processCrash)
  options.faults = DiskFaults(atCommit: { isFailing.value.withLock { $0 } ? .inputOutput : nil })
  let path = "\(CommandLine.arguments[2])/store"
  let tier = try DiskTier(directory: path, options: options) { _ in }
  let cache = try tier.partition(named: "cache") { _ in }
  for number in 0..<20 { _ = cache.stage(record(key(number), number, [UInt8](repeating: 1, count: 50_000))) }
  try await tier.flush()
  var status = stat()
  unsafe stat("\(path)/data.mdb", &status)
  setDevice(Int(status.st_size))
  isFailing.value.withLock { $0 = true }
  _ = cache.stage(record(key(0), 0, [2]))
  do throws(CisternError) {
    try await tier.flush()
    say("flushed")
  } catch {
    say("\(error.code)")
  }
  exit(0)
}
