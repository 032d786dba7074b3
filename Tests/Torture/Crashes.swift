import Cistern
import CisternDisk
import Foundation
import LMDB
import TestDirectories

/// Kills a writer at random instants, many times, and checks the files that it left.
func crashes(kills: Int, durability: String, seed: UInt64) async throws -> Bool {
  var random = Mixer(state: seed)
  var worst: [String] = []
  var found = 0
  var setAside = 0
  var flushes = 0
  var pages = 0
  for round in 0..<kills {
    let folder = TemporaryDirectory()
    // Every third store is too small for all keys.
    let evicts = round % 3 == 2
    let limit = evicts ? 512 << 10 : 16 << 20
    let script = Script(seed: random.next())
    let child = try Child(["write", folder.store, "\(limit)", durability, "\(script.seed)"])
    // One instant in four is early. The early ones include the first millisecond, in which the store is created.
    usleep(UInt32(random.next(below: round % 4 == 0 ? 40_000 : 400_000)))
    let flushed = child.kill().compactMap { Int($0) }.last ?? 0
    flushes += flushed > 0 ? 1 : 0
    // A crash never leaves a damaged file. This check runs even if the next opening would skip it.
    do {
      pages += try DataFileCheck.run(folder.store + "/data.mdb").get()
    } catch {
      worst.append("kill \(round), seed \(script.seed): \(error)")
    }
    do {
      let reports = Reports()
      let tier = try DiskTier(
        directory: folder.store, limit: .bytes(limit), durability: durability == "powerCut" ? .powerCut : .processCrash,
        report: { reports.add($0) })
      let caches = try TrialCaches(tier)
      let findings = Findings(in: caches, script: script, flushed: flushed, evicts: evicts)
      found += findings.found
      worst += (findings.faults + tier.checkInvariants()).map { "kill \(round), seed \(script.seed): \($0)" }
      if !reports.isEmpty {
        setAside += 1
        worst.append("kill \(round), seed \(script.seed): \(reports.text)")
      }
      caches.stage(.set(0), number: 1, of: script)
      try await tier.close()
    } catch {
      worst.append("kill \(round), seed \(script.seed): does not open: \(error)")
    }
  }
  say(
    "crashes, \(durability): \(kills) kills (\(flushes) after a flush), \(found) values found, "
      + "\(pages) pages looked at, \(worst.count) faults")
  for fault in worst.prefix(20) { say("  \(fault.prefix(300))") }
  return worst.isEmpty
}

/// The reports of a tier.
final class Reports: @unchecked Sendable {
  // Guarded by the lock.
  private var all: [String] = []
  private var counts: [StoreReport.Code: Int] = [:]
  private let lock = NSLock()

  func add(_ report: StoreReport) {
    lock.withLock {
      all.append("\(report.code): \(report.message)\(report.cause.map { " \($0)" } ?? "")")
      counts[report.code, default: 0] += 1
    }
  }
  func count(of code: StoreReport.Code) -> Int { lock.withLock { counts[code] ?? 0 } }
  var isEmpty: Bool { lock.withLock { all.isEmpty } }
  var text: String { lock.withLock { all.joined(separator: "; ") } }
}
