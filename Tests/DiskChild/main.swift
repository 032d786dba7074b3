// A process that the disk tier's tests kill, or share a directory with. The first argument selects its work. It
// prints its progress on standard output.
import Cistern
import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

let layoutFlag = "layout="
let arguments = CommandLine.arguments.filter { !$0.hasPrefix(layoutFlag) }
let layout = CommandLine.arguments.lazy.filter { $0.hasPrefix(layoutFlag) }
  .compactMap { DiskLayout(rawValue: String($0.dropFirst(layoutFlag.count))) }.first
guard arguments.count >= 5, let command = ChildCommand(rawValue: arguments[1]), let limit = Int(arguments[3]) else {
  print(ChildCommand.usage)
  exit(2)
}
endWithTests()
// Ends a process that is stuck, so that each wait of a test for its output or its end returns.
alarm(1800)
if command.waitsLongAtExit { waitLongAtExit() }
let tier = try DiskTier(
  directory: arguments[2],
  options: DiskOptions(
    limit: .bytes(limit), layout: layout ?? .tested,
    durability: arguments[4] == "powerCut" ? .powerCut : .processCrash,
    commitInterval: command.commitsAtExit ? .seconds(10_000_000) : .milliseconds(5)))
let cache = try tier.diskPartition(named: "cache")

@Sendable func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

@Sendable func key(_ number: Int) -> [UInt8] { Array("key-\(number)".utf8) }

@Sendable func record(_ key: [UInt8], _ number: Int, _ bytes: [UInt8]) -> StagedWrite {
  .record(key: key, RecordMetadata(created: WallTime(nanosecondsSince1970: Int64(number)), cost: 1), bytes: bytes)
}

switch command {
case .write: try await writeRepeatedly(tier, cache)
case .batch: try await writeBatches(tier, cache, isInStep: false)
case .batchInStep: try await writeBatches(tier, cache, isInStep: true)
case .batchAcross: try await writeBatchesAcross(tier)
case .mixedInStep: try await writeMixedSizesInStep(tier, cache)
case .invalidate: try await invalidateInRounds(tier, cache)
case .invalidateAll: try await invalidateAllRepeatedly(tier)
case .invalidateRepeatedly: try await invalidateRepeatedly(tier, cache)
case .purge: try await purge(arguments.count > 5 ? arguments[5] : nil, tier, cache)
case .purgeAll: try await purgeAll(tier)
case .hold: try await holdSnapshot(tier, cache)
case .replace: try await replaceRecord(tier, cache)
case .clear: try await clearAndWrite(tier, cache)
case .open:
  say("open")
  stay()
case .backup: try await backUpRepeatedly(tier, cache)
case .fork:
  _ = cache.stage(record(key(0), 1, [1]))
  try await tier.flush()
  forkAndTry(cache, key(0))
case .exit:
  try stage(1, in: tier)
  exit(0)
case .exitMain:
  // The program ends after the switch.
  try stage(1, in: tier)
case .exitStores:
  for number in 1...3 { try stage(number, in: try openToExit("store-\(number)")) }
  let last = try openToExit("store-4")
  try stage(4, in: last)
  exit(0)
case .exitWriter: try await exitFromWriter()
case .exitCommitting: try exitDuringCommit()
case .exitHung: try exitWithHungDisk()
case .exitFork: try await exitFromFork()
case .largestFile: try await writeAtLargestSize()
case .deviceSizes: try await writeSizesOnDevice()
case .device: try await fillDevice()
case .openDevice: openOnFullDevice()
case .overwriteDevice: try await overwriteOnFullDevice()
case .script: try await runScript(isClosing: false)
case .scriptClosing: try await runScript(isClosing: true)
case .resources: _ = try countResources()
case .relative:
  // Opens a relative path and changes the working directory.
  unsafe chdir(arguments[2])
  let relative = try DiskTier(directory: "relative", limit: .mebibytes(1)) { report in say("\(report.code)") }
  unsafe chdir("/")
  try stage(1, in: relative)
  try await relative.flush()
  try await relative.close()
}
