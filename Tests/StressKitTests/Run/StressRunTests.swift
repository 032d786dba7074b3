import Cistern
import Foundation
import Testing
import TestDirectories

@testable import StressKit

@Suite(.serialized) struct StressRunTests {
  private let folder = TemporaryDirectory()

  private func configuration(_ arguments: String...) throws -> StressConfiguration {
    let command = try StressCommand.parse(arguments)
    return try command.resolve()
  }

  private func run(_ configuration: StressConfiguration) async throws -> StressReport {
    let stop = StopSignal(configuration.bound)
    return try await StressRun(configuration, stop: stop).run()
  }

  @Test func `a run in process ends without violations`() async throws {
    let report = try await run(
      configuration(
        "--in-process", "--operations", "20000", "--value-size", "512", "--keys", "500", "--memory-limit", "64KiB",
        "--disk-limit", "4MiB", "--clients", "8", "--latency", "0", "--seed", "11", "--reopen-every", "200ms"))
    #expect(report.violations == [])
    #expect(report.operations >= 20_000)
    #expect(report.originRequests > 0)
    #expect(report.distinctKeys > 100)
    #expect(report.historyOperations > 0)
    #expect(report.observers.changes > 0)
    #expect(!report.interrupted)
  }

  @Test func `a run over HTTP serves the files of a folder`() async throws {
    for name in ["a b.txt", "sub/ü.bin", "100%.txt", "c+d;e.txt"] { _ = try folder.file(name, "content of \(name)") }
    var configuration = try configuration(
      folder.path, "--operations", "3000", "--keys", "12", "--clients", "4", "--latency", "1ms", "--seed", "12")
    configuration.failureRate = 0
    let report = try await run(configuration)
    #expect(report.violations == [])
    #expect(report.originRequests > 0)
    #expect(report.count(.failed) == 0)
  }

  @Test func `an unreachable origin is an error with its address`() async throws {
    let port = try RefusingPort()
    let origin = "http://127.0.0.1:\(port.number)/files/"
    let run = await CommandRun(
      "stress", "--origin", origin, "--operations", "100", "--keys", "10", "--value-size", "100")
    #expect(run.status == 2)
    #expect(run.errors.contains("\(origin) does not answer"), "\(run.errors)")
    withExtendedLifetime(port) {}
    #expect(!run.text.contains("no violations"))
  }

  @Test func `an origin without values is an error with its last answer`() async throws {
    let configuration = try configuration("--operations", "100", "--keys", "10", "--value-size", "100")
    let runState = RunState(configuration, stop: StopSignal(configuration.bound))
    let behaviour = OriginBehaviour(
      run: runState.run, keys: runState.keys, register: runState.register, latency: .zero, failureRate: 0)
    let run = try await OriginServer(behaviour: behaviour).run { url in
      await CommandRun(
        "stress", "--origin", url.absoluteString + "absent", "--operations", "200", "--keys", "10", "--value-size",
        "100")
    }
    #expect(run.status == 2)
    #expect(run.errors.contains("absent returned no value: the origin answered with status 404"), "\(run.errors)")
    #expect(run.text.contains("no load was checked"))
  }

  @Test func `the values of an origin are counted`() async throws {
    let configuration = try configuration("--operations", "100", "--keys", "10", "--value-size", "100")
    let runState = RunState(configuration, stop: StopSignal(configuration.bound))
    let behaviour = OriginBehaviour(
      run: runState.run, keys: runState.keys, register: runState.register, latency: .zero, failureRate: 0)
    let path = folder.path + "/report.json"
    let run = try await OriginServer(behaviour: behaviour).run { url in
      await CommandRun(
        "stress", "--origin", url.absoluteString, "--operations", "200", "--keys", "10", "--value-size", "100",
        "--json", path)
    }
    #expect(run.status == 0, "\(run.text)\(run.errors)")
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let report = try JSONDecoder().decode(StressReport.self, from: data)
    #expect(report.originValues > 0)
    #expect(report.originFailure == nil)
  }

  @Test func `a trace chooses the keys`() async throws {
    let trace = try folder.file("trace.csv", (0..<300).map { "k\($0 % 7),2000" }.joined(separator: "\n"))
    let report = try await run(
      configuration("--in-process", "--trace", trace, "--operations", "2000", "--latency", "0"))
    #expect(report.violations == [])
    #expect(report.distinctKeys == 7)
  }

  @Test func `an interrupted run reports`() async throws {
    let configuration = try configuration("--in-process", "--duration", "1h", "--keys", "100", "--value-size", "100")
    let stop = StopSignal(configuration.bound)
    let run = try StressRun(configuration, stop: stop)
    async let report = run.run()
    stop.interrupt()
    #expect(try await report.interrupted)
  }

  @Test(.timeLimit(.minutes(30))) func `a run reports clients that wait forever, and ends without them`() async throws {
    // Each of the three clients takes one burst of operations.
    let configuration = try configuration(
      "--in-process", "--operations", "96", "--clients", "3", "--keys", "10", "--value-size", "100", "--directory",
      folder.path + "/store")
    var run = try StressRun(configuration, stop: StopSignal(configuration.bound))
    run.patience = Patience(beforeCancellation: .zero, afterCancellation: .zero)
    let runState = RunState(configuration, stop: run.stop)
    let behaviour = OriginBehaviour(
      run: runState.run, keys: runState.keys, register: runState.register, latency: .zero, failureRate: 0)
    // A client waits at the closed barrier before its first operation.
    await runState.barrier.close()
    let report = try await run.run(runState, InProcessOrigin(behaviour: behaviour))
    #expect(report.violations.map(\.rule) == [.unsound])
    #expect(report.violations.first?.detail.hasPrefix("3 clients still wait") == true)
    run.stop.interrupt()
    runState.barrier.open()
  }

  @Test func `a directory of the user stays and is used again`() async throws {
    let arguments = [
      "stress", "--in-process", "--operations", "2000", "--keys", "50", "--value-size", "300", "--directory",
      folder.path + "/store",
    ]
    let first = await CommandRun(arguments)
    #expect(first.status == 0, "\(first.text)\(first.errors)")
    let second = await CommandRun(arguments)
    #expect(second.status == 0, "\(second.text)\(second.errors)")
    #expect(FileManager.default.fileExists(atPath: folder.path + "/store"))
  }

  @Test func `the report in JSON has all documented fields`() async throws {
    let path = folder.path + "/report.json"
    let run = await CommandRun(
      "stress", "--in-process", "--operations", "2000", "--keys", "50", "--value-size", "300", "--seed", "5", "--json",
      path)
    #expect(run.status == 0, "\(run.text)\(run.errors)")
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let report = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    for key in [
      "seed", "configuration", "seconds", "operations", "originRequests", "distinctKeys", "outcomes", "limits",
      "violations",
    ] { #expect(report[key] != nil, "\(key) is missing") }
    #expect(report["seed"] as? Int == 5)
    #expect((report["violations"] as? [Any])?.isEmpty == true)
    let outcomes = try #require(report["outcomes"] as? [String: [String: Any]])
    for name in ["memory", "disk", "joined", "fetched", "failed", "cancelled"] {
      #expect(["count", "p50", "p99", "p999"].allSatisfy { outcomes[name]?[$0] is Int }, "\(name) is incomplete")
    }
    let limits = try #require(report["limits"] as? [String: [String: Any]])
    for tier in ["memory", "disk"] {
      let limit = try #require(limits[tier]?["limit"] as? Int)
      let peak = try #require(limits[tier]?["peak"] as? Int)
      #expect(peak > 0 && peak <= limit)
    }
  }

  @Test func `a store of another program is left unchanged`() async throws {
    let store = folder.path + "/store"
    #expect(await CommandRun(["put", store, "things", "a", "--disk-limit", "64MiB"], input: [1]).status == 0)
    let run = await CommandRun(
      "stress", "--directory", store, "--in-process", "--operations", "10", "--value-size", "100")
    #expect(run.status == 2)
    #expect(run.errors.contains("'things'"))
    #expect(await CommandRun("stat", store).text.contains("64 MiB"))
  }

  @Test func `a run continues in the folder of an earlier one`() async throws {
    for _ in 0..<2 {
      let report = try await run(
        configuration(
          "--directory", folder.path + "/store", "--in-process", "--operations", "200", "--value-size", "100",
          "--keys", "20"))
      #expect(report.violations == [])
    }
  }

  @Test func `files behind a link are served, except those whose names are invalid in an address`() throws {
    for name in ["a", "a?copy=1", "b"] { _ = try folder.file("files/\(name)", "content") }
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/files")
    let keys = try configuration(link, "--keys", "6").keys
    #expect(Set(keys.names).count == 6)
    #expect(keys.bodies == .files(folder: link, paths: ["a", "b"]))
  }

  @Test func `a trace with impossible value sizes is refused, unless a size is given`() throws {
    let trace = try folder.file("trace.csv", "a,\(1 << 50)\nb,10\n")
    #expect(throws: CommandFailure.self) { try configuration("--trace", trace) }
    #expect(try configuration("--trace", trace, "--value-size", "100").keys.count == 2)
  }
}
