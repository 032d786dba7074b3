import Foundation
import TestDirectories

/// Makes a store's file calls fail in many ways, each in a separate process.
func faults(count: Int, seed: UInt64, layer: String) throws -> Bool {
  var random = Mixer(state: seed)
  var tally: [String: Int] = [:]
  var refusals: [String: Int] = [:]
  var wrong: [String] = []
  var failed = 0
  for trial in 0..<count {
    let folder = TemporaryDirectory()
    let own = random.next()
    let child = try Child(["fault", folder.store, "\(own)"], environment: ["LD_PRELOAD": layer])
    let (end, said) = child.end(within: 60)
    let summary = said.last { $0.hasPrefix("trial: ") } ?? ""
    let parts = summary.split(separator: "|").map(String.init)
    if parts.count > 2, let hits = Int(parts[2]), hits > 0 { failed += 1 }
    if parts.count > 1 { tally[parts[1], default: 0] += 1 }
    for refusal in parts.dropFirst(3) { refusals[refusal, default: 0] += 1 }
    if end != .exited(0) {
      wrong.append("trial \(trial), own seed \(own): \(end): \(said.joined(separator: "; "))")
    }
  }
  say("faults: \(count) trials, in \(failed) of which calls failed; \(wrong.count) faults")
  say("  failed calls: \(list(tally))")
  say("  thrown errors: \(list(refusals))")
  for fault in wrong.prefix(20) { say("  \(fault.prefix(600))") }
  return wrong.isEmpty
}

private func list(_ counts: [String: Int]) -> String {
  counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
}

/// Runs one trial in this process.
func faultTrial(directory: String, seed: UInt64) async throws -> Bool {
  var trial = FaultTrial(directory: directory, seed: seed)
  // Printed in advance, so that a crashed process has already named its fault.
  say("fault \(trial.fault)\(trial.isEarly ? ", from the opening on" : ""), \(trial.durability)")
  let isFine: Bool
  do {
    isFine = try await trial.run()
  } catch {
    say("trial ended with \(error)")
    isFine = false
  }
  let delivered = Dictionary(trial.refusals.map { ($0, 1) }, uniquingKeysWith: +).keys.sorted().joined(separator: "|")
  say("trial: |\(trial.fault.name)|\(Fault.hits)|\(delivered)")
  return isFine
}
