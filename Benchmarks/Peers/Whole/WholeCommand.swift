import Foundation
import Workloads

/// The comparison of clients in front of one origin, one subject in each process.
enum WholeCommand {
  private static let tasks = 64

  /// Runs the command `whole SUBJECT FOLDER SECONDS LATENCY`.
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
