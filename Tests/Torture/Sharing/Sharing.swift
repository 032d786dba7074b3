import Cistern
import Foundation
import TestDirectories

/// Runs several processes on one directory concurrently, kills them at random instants, and compares their logs.
func sharing(rounds: Int, seed: UInt64, kinds: [SharingKind]) async throws -> Bool {
  var random = Mixer(state: seed)
  var faults: [String] = []
  var operations = 0
  var found = 0
  var kills = 0
  var openings = 0
  var changes = 0
  for round in 0..<rounds {
    let kind = kinds[round % kinds.count]
    let folder = TemporaryDirectory()
    var round = SharingRound(folder: folder, kind: kind, seed: random.next())
    let history = try await round.run(&random)
    operations += history.operations.count
    found += history.foundCount
    kills += round.kills
    openings += history.openings.count
    changes += history.changeCount
    faults += history.faults.map { "\(kind.rawValue), seed \(round.seed): \($0)" }
  }
  say(
    "sharing: \(rounds) rounds of \(SharingProcess.count) processes, \(kills) kills, \(openings) openings of which "
      + "\(changes) with other settings, \(operations) operations, \(found) values found, \(faults.count) faults")
  for fault in faults.prefix(20) { say("  \(fault.prefix(400))") }
  return faults.isEmpty
}

/// One directory and the processes that share it.
struct SharingRound {
  let folder: TemporaryDirectory
  let kind: SharingKind
  let seed: UInt64
  private(set) var kills = 0

  init(folder: TemporaryDirectory, kind: SharingKind, seed: UInt64) {
    self.folder = folder
    self.kind = kind
    self.seed = seed
  }

  private static let operationsPerProcess = 250
  private static let longestRun = 60

  /// Runs the processes, kills and replaces some of them, and returns after the last ones end.
  mutating func run(_ random: inout Mixer) async throws -> SharedHistory {
    var history = SharedHistory(keepsEverything: kind.keepsEverything, readsDisk: kind.readsDisk)
    var children: [Child] = []
    var generations = [Int](repeating: 0, count: SharingProcess.count)
    for process in generations.indices { children.append(try start(process, generation: 0)) }
    for _ in 0..<4 {
      usleep(UInt32(30_000 + random.next(below: 200_000)))
      let process = random.next(below: generations.count)
      _ = children[process].kill()
      kills += 1
      history.add(log(of: process, generations[process]))
      generations[process] += 1
      children[process] = try start(process, generation: generations[process])
    }
    for (process, child) in children.enumerated() {
      let end = child.end(within: Self.longestRun).end
      var logged = log(of: process, generations[process])
      if end != .exited(0) {
        logged.faults.append("process \(process).\(generations[process]) ended with \(end)")
      }
      history.add(logged)
    }
    let (final, faults) = try await finalValues()
    history.add(ProcessLog(faults: faults))
    history.check(final: final, time: monotonicNanoseconds())
    return history
  }

  private func start(_ process: Int, generation: Int) throws -> Child {
    try Child([
      "share", folder.store, kind.rawValue, "\(process)", "\(generation)", "\(seed % 1_000_000_007)",
      "\(Self.operationsPerProcess)",
    ])
  }

  private func log(of process: Int, _ generation: Int) -> ProcessLog {
    SharedLog.read(
      path: SharingProcess.logPath(folder.store, process, generation), process: process, generation: generation,
      death: monotonicNanoseconds())
  }

  /// Returns the values in the store after all processes have ended, and the violations that its opening shows.
  private func finalValues() async throws -> ([SharedKey: SharedAuthor?], [String]) {
    var values: [SharedKey: SharedAuthor?] = [:]
    var faults: [String] = []
    let reports = Reports()
    let settings = kind.finalSettings
    let store = try settings.openStore(folder.store, memoryLimit: .mebibytes(1)) { reports.add($0) }
    let caches = try settings.openCaches(of: store)
    for key in SharedKey.all {
      let bytes = caches[key.cache][key.recordKey]
      let author = bytes.flatMap { SharedAuthor(of: $0, key: key) }
      if bytes != nil, author == nil { faults.append("\(key.text): a value that no process wrote") }
      values[key] = .some(author)
    }
    faults += caches.flatMap { $0.checkInvariants() }
    if !reports.isEmpty { faults.append(reports.text) }
    try await store.close()
    return (values, faults)
  }
}
