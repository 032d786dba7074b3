import Cistern
import CisternDisk

/// Opens a store in any state, reads all of it, writes to it, and prints its findings. It runs in a separate process,
/// because the store may end it. Returns whether all findings are allowed.
func check(
  directory: String, limit: Int, durability: Durability, seed: UInt64, flushed: Int, keepsOrder: Bool
) async throws -> Bool {
  let script = Script(seed: seed)
  let reports = Reports()
  let tier = try DiskTier(
    directory: directory, limit: .bytes(limit), durability: durability, report: { reports.add($0) })
  let caches = try TrialCaches(tier)
  let findings = Findings(in: caches, script: script, flushed: flushed, evicts: false, keepsOrder: keepsOrder)
  var faults = findings.faults
  var listed = 0
  caches.forEachRecord {
    listed += 1
    return listed < 10_000
  }
  // A new write must be readable and a removed key must be absent, unless the disk refuses the write.
  for key in 0..<Script.keyCount {
    await caches.waitForRoom()
    let step = key % 3 == 0 ? Script.Step.remove(key) : .set(key)
    caches.stage(step, number: writtenLast(key, script), of: script)
  }
  try? await tier.flush()
  let afterwards = Findings(in: caches, script: script, flushed: 0, evicts: true, keepsOrder: false)
  faults += afterwards.faults.map { "afterwards: \($0)" }
  let state =
    reports.isEmpty
    ? (findings.found > 0 ? "whole" : "empty") : reports.text.contains("setAside") ? "set aside" : "mended"
  say(state)
  if reports.isEmpty, keepsOrder { faults += tier.checkInvariants() }
  for fault in faults { say(fault) }
  if keepsOrder, !reports.isEmpty { say("reported: \(reports.text)") }
  try? await tier.close()
  // A power cut before the first flush may leave a partial file header. Such a file is set aside, and no flushed
  // write is lost.
  return faults.isEmpty && !(keepsOrder && flushed > 0 && !reports.isEmpty)
}

/// Returns the number of an operation that writes the key.
private func writtenLast(_ key: Int, _ script: Script) -> Int {
  var number = 1
  while true {
    switch script.step(number) {
    case .set(key): return number
    case .batch(let keys) where keys.contains(key): return number
    default: number += 1
    }
  }
}
