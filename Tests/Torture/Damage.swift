import Foundation
import TestDirectories

/// Damages a store's files at random and opens each result in a separate process.
func damage(count: Int, seed: UInt64) async throws -> Bool {
  var random = Mixer(state: seed)
  var tally: [String: [String: Int]] = [:]
  var faults: [String] = []
  let folder = TemporaryDirectory()
  let script = Script(seed: seed)
  // Two bases from one script with different lengths, so that their files differ in age.
  var bases: [String] = []
  for operations in [700, 1_900] {
    let path = folder.path + "/base-\(operations)"
    let child = try Child(["write", path, "\(4 << 20)", "processCrash", "\(script.seed)", "\(operations)"])
    guard child.end(within: 60).end == .exited(0) else { throw CocoaError(.fileWriteUnknown) }
    bases.append(path)
  }
  for trial in 0..<count {
    let path = folder.path + "/damaged"
    let base = bases[trial % 2]
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: base, toPath: path)
    let kind = DamageKind.allCases[random.next(below: DamageKind.allCases.count)]
    try kind.apply(in: path, other: bases[1 - trial % 2], &random)
    let original = folder.path + "/original"
    try? FileManager.default.removeItem(atPath: original)
    try FileManager.default.copyItem(atPath: path, toPath: original)
    let child = try Child(["check", path, "\(4 << 20)", "processCrash", "\(script.seed)", "0", "any"])
    let (end, said) = child.end(within: 10)
    let outcome =
      switch end {
      case .exited(0): said.first ?? "nothing said"
      case .exited: "WRONG"
      case .signal(let number): "killed by signal \(number)"
      case .hung: "hung"
      }
    tally[kind.rawValue, default: [:]][outcome, default: 0] += 1
    // Keeps the files that ended the process, if `CISTERN_KEEP` names a folder.
    if let kept = ProcessInfo.processInfo.environment["CISTERN_KEEP"], outcome.hasPrefix("killed") || end == .hung {
      try? FileManager.default.copyItem(atPath: original, toPath: "\(kept)/\(seed)-\(trial)-\(outcome.suffix(1))")
    }
    if case .exited(let code) = end, code != 0 {
      faults.append("trial \(trial), \(kind.rawValue), seed \(seed): \(said.prefix(4).joined(separator: "; "))")
    }
  }
  let ended = tally.values.flatMap { $0 }.filter { $0.key.hasPrefix("killed") || $0.key == "hung" }
    .reduce(0) { $0 + $1.value }
  say(
    "damage: \(count) damaged stores, \(faults.count) with a wrong value or an error, \(ended) that ended the process "
      + "or ran on")
  for (kind, outcomes) in tally.sorted(by: { $0.key < $1.key }) {
    say("  \(kind): " + outcomes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
  }
  for fault in faults.prefix(20) { say("  \(fault.prefix(300))") }
  return faults.isEmpty && ended == 0
}
