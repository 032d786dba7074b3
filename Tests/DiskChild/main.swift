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
guard arguments.count >= 5, let limit = Int(arguments[3]) else {
  print(
    "usage: DiskChild write|batch|invalidate|hold|replace|purge|pester|clear|fork DIRECTORY LIMIT powerCut|processCrash [layout=LAYOUT]"
  )
  exit(2)
}
endWithTests()
// Its disk never responds, so its exit has only the usual delay.
if arguments[1] != "exit-hung", ["exit", "script"].contains(where: arguments[1].hasPrefix) { waitLongAtExit() }
let tier = try DiskTier(
  directory: arguments[2],
  options: DiskOptions(
    limit: .bytes(limit), layout: layout ?? .tested,
    durability: arguments[4] == "powerCut" ? .powerCut : .processCrash,
    commitInterval: arguments[1].hasPrefix("exit") ? .seconds(10_000_000) : .milliseconds(5)))
let cache = try tier.diskPartition(named: "cache")

@Sendable func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

@Sendable func key(_ number: Int) -> [UInt8] { Array("key-\(number)".utf8) }

@Sendable func record(_ key: [UInt8], _ number: Int, _ bytes: [UInt8]) -> StagedWrite {
  .record(key: key, RecordMetadata(created: WallTime(nanosecondsSince1970: Int64(number)), cost: 1), bytes: bytes)
}

switch arguments[1] {
case "write":
  // Number n is written to key n mod 97, and every seventh is removed again. The test that kills the process derives
  // the required content from the last line.
  var number = 0
  while true {
    number += 1
    let bytes = Array("\(number):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 3000)
    cache.waitForRoom()
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: Int64(number)), cost: 1)
    _ = cache.stage(.record(key: key(number % 97), metadata, bytes: bytes))
    if number % 7 == 0 { _ = cache.stage(.removal(key: key(number % 97))) }
    if number % 20 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
case "batch", "batch-in-step":
  // An odd batch n writes n to the keys 0 to 9, and an even one to the keys 5 to 14. Each needs more pages than a
  // transaction should touch. Between the batches come writes that evict others. A long line fills the pipe, so that the
  // process in step writes on only after the line is read.
  let padding = String(repeating: " ", count: arguments[1] == "batch" ? 0 : 1 << 17)
  var number = 0
  while true {
    number += 1
    cache.waitForRoom()
    let batch = cache.beginBatch()
    for slot in 0..<10 {
      let bytes = Array("\(number):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 2000)
      _ = cache.stage(record(key(slot + (number % 2 == 1 ? 0 : 5)), number, bytes), in: batch)
    }
    cache.endBatch(batch)
    for other in 0..<3 {
      _ = cache.stage(record(key(100 + number * 3 + other), number, [UInt8](repeating: 1, count: 900)))
    }
    if number % 20 == 0 {
      try await tier.flush()
      say("\(number)\(padding)")
    }
  }
case "invalidate":
  // Round n writes n to 40 keys, which alternate between four tags. At its end, it invalidates one of the tags or a
  // prefix. Every third round flushes.
  var number = 0
  while true {
    number += 1
    cache.waitForRoom()
    for slot in 0..<40 {
      var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["t\(slot % 4)"])
      metadata.localVersion = cache.invalidationVersion
      _ = cache.stage(.record(key: key(slot), metadata, bytes: Array("\(number)".utf8)))
    }
    _ = cache.stageInvalidation(number % 8 < 4 ? .tag("t\(number % 4)") : .prefix(key(number % 4)))
    if number % 3 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
case "hold":
  // Keeps a snapshot open until the process is killed.
  _ = cache.stage(.record(key: key(0), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [1]))
  try await tier.flush()
  _ = cache.withRecord(forKey: key(0).rawSpan) { _, _ in
    say("holding")
    while true { sleep(1000) }
  }
case "replace":
  // Writes a newer record of key 0, and stays.
  var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 7), cost: 1)
  metadata.isSet = true
  _ = cache.stage(.record(key: key(0), metadata, bytes: [7]))
  try await tier.flush()
  say("replaced")
  while true { sleep(1000) }
case "purge":
  // Invalidates a tag, or the prefix in the next argument, and keeps running.
  _ = cache.stageInvalidation(arguments.count > 5 ? .prefix(Array(arguments[5].utf8)) : .tag("gone"))
  try await tier.flush()
  say("invalidated")
  while true { sleep(1000) }
case "purge-all":
  // Invalidates a tag in all partitions of the file, and keeps running.
  try await tier.waitForCommit(invalidateAll("gone", in: tier))
  say("invalidated")
  while true { sleep(1000) }
case "batch-across": try await writeBatchesAcross(tier)
case "invalidate-all": try await invalidateAllRepeatedly(tier)
case "pester":
  // Invalidates one tag after the other until the process is killed. No record has these tags.
  var number = 0
  while true {
    number += 1
    _ = cache.stageInvalidation(.tag("none-\(number)"))
    try await tier.flush()
    if number == 1 { say("pestering") }
  }
case "clear":
  // Removes everything, writes one record, and keeps running.
  _ = cache.stageRemovalOfAll()
  _ = cache.stage(.record(key: key(1), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [9]))
  try await tier.flush()
  say("cleared")
  while true { sleep(1000) }
case "fork":
  _ = cache.stage(.record(key: key(0), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [1]))
  try await tier.flush()
  forkAndTry(cache, key(0))
case "exit":
  try stage(1, in: tier)
  exit(0)
case "exit-main":
  // The program ends after the switch.
  try stage(1, in: tier)
case "exit-stores":
  for number in 1...3 { try stage(number, in: try openToExit("store-\(number)")) }
  let last = try openToExit("store-4")
  try stage(4, in: last)
  exit(0)
case "exit-writer": try await exitFromWriter()
case "exit-committing": try exitDuringCommit()
case "exit-hung": try exitWithHungDisk()
case "exit-fork": try await exitFromFork()
case "open":
  say("open")
  while true { sleep(1000) }
case "mixed-in-step": try await writeMixedSizesInStep(tier, cache)
case "backup": try await backUpRepeatedly(tier, cache)
case "largest-file": try await writeAtLargestSize()
case "device-sizes": try await writeSizesOnDevice()
case "device": try await fillDevice()
case "open-device": openOnFullDevice()
case "overwrite-device": try await overwriteOnFullDevice()
case "script": try await runScript(isClosing: false)
case "script-closing": try await runScript(isClosing: true)
case "resources": _ = try countResources()
case "relative":
  // Opens a relative path and changes the working directory.
  unsafe chdir(arguments[2])
  let relative = try DiskTier(directory: "relative", limit: .mebibytes(1)) { report in say("\(report.code)") }
  unsafe chdir("/")
  try stage(1, in: relative)
  try await relative.flush()
  try await relative.close()
default: exit(2)
}

/// Forks, and uses the inherited cache in the child. The child may use only operations that need no other thread,
/// because a fork copies only the calling thread.
func forkAndTry(_ cache: any TransactionalPartition, _ first: [UInt8]) -> Never {
  let process = forkWhileThreadsSleep()
  if process == 0 {
    let found = cache.withRecord(forKey: first.rawSpan) { _, bytes in bytes.byteCount }
    var isRefused = false
    if case .refused = cache.stage(.removal(key: first)) { isRefused = true }
    _ = cache.stageRemovalOfAll()
    cache.waitForRoom()
    var keys = 0
    cache.forEachRecord { _, _, _ in
      keys += 1
      return true
    }
    let isThere = cache.contains(first.rawSpan)
    say(
      "child: \(found.map(String.init) ?? "nil"), \(isRefused ? "refused" : "taken"), "
        + "\(keys == 0 ? "no keys" : "keys"), \(isThere ? "there" : "not there")")
    _exit(0)
  }
  var status: Int32 = 0
  unsafe waitpid(process, &status, 0)
  let isThere = cache.contains(first.rawSpan)
  say("parent: \(isThere ? "found" : "lost")")
  while true { sleep(1000) }
}
