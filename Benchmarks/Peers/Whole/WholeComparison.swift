import Foundation
import Workloads

/// Measures one subject in front of the origin. The workloads are:
///
/// - A warm mix of requests at a steady rate.
/// - The same after a restart of the client.
/// - The same at full speed.
/// - Bursts of callers of absent keys.
struct WholeComparison<Subject: WholeSubject> {
  let name: String
  let load: WholeLoad<Subject>
  /// The duration of each pass.
  let seconds: Double
  private let passes = 3

  func run(_ subject: Subject) async throws {
    var subject = subject
    // A subject without a cache keeps no values, so that only its connections warm up.
    if Subject.self != NoCache.self { try await load.fill(subject) }
    _ = try await load.closed(subject, seconds: min(seconds, 1), seed: 1, removes: false)

    // The workloads with equal requests for all subjects come first, so that all subjects have the same keys removed.
    report("mixed", try await taken { try await load.open(subject, seconds: seconds, seed: UInt64(10 + $0)) })
    let restarted = try await taken { number in
      subject = try await subject.restarted()
      return try await load.open(subject, seconds: seconds, seed: UInt64(20 + number))
    }
    report("restart", restarted)
    let most = try await taken { try await load.closed(subject, seconds: seconds, seed: UInt64(30 + $0)) }
    report("mixed", "ns", most.nanosecondsPerRequest)

    for number in 0..<2 { _ = try await load.burst(subject, number: number) }
    let bursts = try await taken(max(Int(seconds * 20), 4)) { try await load.burst(subject, number: 2 + $0) }
    report("burst", "ns", bursts.nanosecondsPerRequest)
    report("burst", bursts)
    try await subject.close()
  }

  /// Adds up the costs of all passes.
  private func taken(_ passes: Int? = nil, _ pass: (Int) async throws -> Taken) async throws -> Taken {
    var taken = Taken()
    for number in 0..<(passes ?? self.passes) { taken.add(try await pass(number)) }
    return taken
  }

  private func report(_ workload: String, _ taken: Taken) {
    report(workload, "origin_requests", taken.originRequestsPerRequest)
    for (metric, share) in [("p50_ns", 500), ("p99_ns", 990), ("p999_ns", 999)] {
      report(workload, metric, taken.latency(perMille: share))
    }
  }

  private func report(_ workload: String, _ metric: String, _ value: Double) {
    Figure(group: "whole", workload: workload, subject: name, metric: metric, value: value).print()
  }
}

enum WholeComparisons {
  private static let tasks = 64

  /// `whole SUBJECT FOLDER SECONDS LATENCY`
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 4, let seconds = Double(arguments[2]), Double(arguments[3]) != nil else {
      Whole.fail("whole SUBJECT FOLDER SECONDS LATENCY")
    }
    let process = try ChildProcess(CommandLine.arguments[0], ["origin", arguments[3]])
    defer { process.stop() }
    guard let port = process.line().flatMap(Int.init) else { Whole.fail("the origin does not start") }
    let origin = Origin(port: port, connections: tasks)
    func run<Subject: WholeSubject>(_ subject: Subject) async throws {
      let load = WholeLoad<Subject>(origin: origin, tasks: tasks)
      try await WholeComparison(name: arguments[0], load: load, seconds: seconds).run(subject)
    }
    switch arguments[0] {
    case "no cache": try await run(NoCache())
    case "Cistern":
      let folder = arguments[1] + "/Cistern"
      try remove(folder)
      try await run(try CisternInFront(folder: folder))
      try remove(folder)
    case "Cistern memory": try await run(try CisternInFront(folder: nil))
    case "NSCache": try await run(NSCacheInFront())
    case "Redis":
      // A subject that prints nothing is not installed.
      guard let program = RedisServer.program else { break }
      let server = try await RedisServer.start(program)
      defer { server.stop() }
      try await run(try await RedisInFront(server))
    default: Whole.fail("no subject \(arguments[0])")
    }
    try await origin.close()
  }

  private static func remove(_ folder: String) throws {
    if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
  }
}
