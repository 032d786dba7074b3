import Foundation

/// The resources that this process and one of its stores use at one time.
struct Occupancy: Sendable {
  enum Measure: String, CaseIterable {
    case memory = "resident memory"
    case file = "data file"
    case descriptors = "open descriptors"
    case threads = "threads"
    case slots = "reader slots"
  }

  private var values: [Measure: Int] = [:]

  init(directory: String, readerSlots: Int) {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    values[.memory] = (pages.flatMap { Int($0[1]) } ?? 0) * 4_096
    let attributes = try? FileManager.default.attributesOfItem(atPath: directory + "/data.mdb")
    values[.file] = (attributes?[.size] as? NSNumber)?.intValue ?? 0
    values[.descriptors] = Self.count(in: "/proc/self/fd")
    values[.threads] = Self.count(in: "/proc/self/task")
    values[.slots] = readerSlots
  }

  private static func count(in folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }

  fileprivate subscript(measure: Measure) -> Int { values[measure] ?? 0 }
}

extension Occupancy.Measure {
  /// The tolerated excess of the last third over the middle one, as a share and an absolute amount.
  private var tolerance: (share: Double, amount: Double) {
    switch self {
    case .memory: (0.05, 2_097_152)
    case .file: (0.02, 0)
    case .descriptors, .threads, .slots: (0, 2)
    }
  }

  /// Returns a description, and whether the mean of the last third exceeds that of the middle third by at most the
  /// tolerance.
  func judge(_ samples: [Occupancy]) -> (text: String, holds: Bool) {
    let third = samples.count / 3
    guard third > 0 else { return ("\(rawValue): too few samples", false) }
    let middle = mean(samples[third..<2 * third])
    let last = mean(samples[(2 * third)...])
    let allowed = middle * (1 + tolerance.share) + tolerance.amount
    let holds = last <= allowed
    return (
      "\(rawValue): \(text(mean(samples[..<third]))), \(text(middle)), \(text(last)) in the thirds; "
        + (holds ? "flat" : "GROWS: at most \(text(allowed)) is allowed"), holds
    )
  }

  private func mean(_ samples: ArraySlice<Occupancy>) -> Double {
    samples.reduce(0) { $0 + Double($1[self]) } / Double(max(1, samples.count))
  }

  private func text(_ value: Double) -> String {
    switch self {
    case .memory, .file: String(format: "%.2f MiB", value / 1_048_576)
    default: String(format: "%.1f", value)
    }
  }
}
