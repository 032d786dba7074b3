import Foundation
import TestDirectories

/// Records writers, cuts their recordings at random positions, and opens files that a device may have kept.
///
/// With the durability "trusted", writers do not synchronize, and their files are opened as if they had. This must
/// produce violations.
func powerCuts(runs: Int, images: Int, durability: String, seed: UInt64, recorder: String) throws -> Bool {
  var random = Mixer(state: seed)
  var tally: [String: Int] = [:]
  var faults: [String] = []
  for run in 0..<runs {
    let folder = TemporaryDirectory()
    let limit = run % 3 == 2 ? 512 << 10 : 4 << 20
    let script = Script(seed: random.next())
    let writer = try Child(
      ["write", folder.store, "\(limit)", durability, "\(script.seed)", "\(200 + random.next(below: 900))"],
      environment: ["LD_PRELOAD": recorder, "CISTERN_RECORD": folder.path + "/record"])
    let (end, _) = writer.end(within: 60)
    guard end == .exited(0) else {
      faults.append("run \(run): the writer ended with \(end)")
      continue
    }
    let events = try Recording(path: folder.path + "/record").events
    for image in 0..<images {
      let cut = random.next(below: events.count + 1)
      let flushed = try leave(
        events.prefix(cut), in: folder.path + "/torn", isTrusted: durability == "trusted", &random)
      let child = try Child(
        [
          "check", folder.path + "/torn", "\(limit)", durability, "\(script.seed)", "\(flushed)",
          durability != "processCrash" && limit > 1 << 20 ? "ordered" : "any",
        ])
      let (end, said) = child.end(within: 60)
      tally[said.first ?? "\(end)", default: 0] += 1
      if end != .exited(0) {
        faults.append("run \(run), image \(image), seed \(seed): \(end), \(said.joined(separator: "; "))")
      }
    }
  }
  let counts = tally.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  say("power cuts, \(durability): \(runs * images) images of \(runs) runs: \(counts); \(faults.count) faults")
  for fault in faults.prefix(20) { say("  \(fault.prefix(300))") }
  return faults.isEmpty
}

/// Leaves files in a folder that a power cut after these events can leave. Returns the last operation known to be
/// flushed by then.
private func leave(
  _ events: ArraySlice<Recording.Event>, in folder: String, isTrusted: Bool, _ random: inout Mixer
) throws -> Int {
  var files = [TornFile(), TornFile()]
  var flushed = 0
  for event in events {
    switch event {
    case .written(let file, let offset, let bytes): files[file - 1].write(offset, bytes)
    case .synchronized(let file): files[file - 1].synchronize()
    case .cut(let file, let size): files[file - 1].cut(to: size)
    case .flushed(let number): flushed = number
    }
  }
  let keep = [0, 300, 700, 1000][random.next(below: 4)]
  let tearsPages = random.next(below: 2) == 0
  try? FileManager.default.removeItem(atPath: folder)
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  for (file, name) in zip(files, ["data.mdb", "cistern.mark"]) {
    var image = file.image(keep: keep, tearsPages: tearsPages, &random)
    if image.isEmpty, name == "data.mdb" { continue }
    // The boot identifier changes, as after a restart of the system.
    if name == "cistern.mark" {
      var lines = String(decoding: image, as: UTF8.self).components(separatedBy: "\n")
      if lines.count > 3 {
        lines[2] = "another"
        if isTrusted { lines[1] = "sound" }
        image = Data(lines.joined(separator: "\n").utf8)
      }
    }
    try image.write(to: URL(fileURLWithPath: folder + "/" + name))
  }
  return flushed
}
