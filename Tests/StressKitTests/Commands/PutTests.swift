import CisternTesting
import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

/// `cistern put`: values at and over the limit, and every kind of input.
@Suite struct PutTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  /// A store of one mebibyte accepts this value, but one of its batches cannot hold it.
  private static let largeValue = [UInt8](repeating: 7, count: 120_000)
  private static let tooLargeValue = [UInt8](repeating: 7, count: 200_000)

  private func put(_ key: String, _ value: [UInt8], _ more: String...) async -> CommandRun {
    await CommandRun(["put", store, "things", key, "--disk-limit", "1MiB"] + more, input: value)
  }

  @Test func `a value that is too large is refused with the limit, and the older value stays`() async {
    #expect(await put("a", Array("older".utf8)).status == 0)
    let run = await put("a", Self.tooLargeValue)
    #expect(run.status == 2)
    #expect(run.errors.contains("1 MiB") && run.errors.contains("124,928 bytes"), "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a").text == "older")
    #expect(await CommandRun("verify", store).status == 0)
  }

  @Test(arguments: [[], ["--file", "/dev/zero"]])
  func `an endless value is refused after the largest record, and the older value stays`(more: [String]) async {
    #expect(await put("a", Array("older".utf8)).status == 0)
    let blocks = Recorder<Int>()
    let run = await CommandRun(
      ["put", store, "things", "a"] + more,
      reading: {
        // Without a bound, the memory of the process would end the reading.
        if blocks.elements.count > 1_000 { throw CocoaError(.fileReadTooLarge) }
        blocks.record(1)
        return [UInt8](repeating: 7, count: 10_000)
      })
    #expect(run.status == 2)
    #expect(run.errors.contains("more than 124,928 bytes") && run.errors.contains("1 MiB"), "\(run.errors)")
    #expect(blocks.elements.count <= 13)
    #expect(await CommandRun("get", store, "things", "a").text == "older")
  }

  @Test func `without a store and a limit for it, nothing is read`() async {
    let run = await CommandRun(
      ["put", store, "things", "a"], reading: { throw TraceError(path: "input", line: nil, message: "it was read") })
    #expect(run.status == 2)
    #expect(run.errors.contains("--disk-limit"), "\(run.errors)")
  }

  @Test func `a value that is too large creates no store`() async {
    #expect(await put("a", Self.tooLargeValue).status == 2)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `an invalid cache name creates no store`() async {
    let run = await CommandRun(["put", store, "", "a", "--disk-limit", "1MiB"], input: [1])
    #expect(run.status == 2)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `the largest value of a store can also be exported and imported`() async {
    #expect(await put("a", Self.largeValue).status == 0)
    let export = await CommandRun("export", store, "things")
    let other = folder.path + "/other"
    let run = await CommandRun(["import", other, "things", "--disk-limit", "1MiB"], input: export.output)
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", other, "things", "a").output == Self.largeValue)
  }

  @Test func `records evicted for a value are counted in all caches`() async {
    let arguments = ["--disk-limit", "1MiB"]
    var evicted = 0
    for number in 0..<8 {
      let run = await CommandRun(
        ["put", store, number < 4 ? "things" : "others", "key\(number)"] + arguments, input: Self.largeValue)
      #expect(run.status == 0, "\(run.errors)")
      evicted += run.errors.firstMatch(of: /(\d+) older/).flatMap { Int($0.1) } ?? 0
    }
    var left = 0
    for cache in ["things", "others"] {
      left += await CommandRun("list", store, cache, "--keys-only").text.split(separator: "\n").count
    }
    #expect(left < 8)
    #expect(evicted == 8 - left)
  }

  private func schemaVersion(_ key: String) async throws -> Int? {
    let list = await CommandRun("list", store, "things", "--prefix", key, "--json")
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]])
    return entries.first?["schemaVersion"] as? Int
  }

  @Test func `a value keeps the schema version of the record that it replaces, unless another one is given`()
    async throws
  {
    #expect(await put("a", [1]).status == 0)
    #expect(try await schemaVersion("a") == 0)
    #expect(await put("a", [2], "--schema-version", "4294967295").status == 0)
    #expect(try await schemaVersion("a") == 4_294_967_295)
    #expect(await put("a", [3]).status == 0)
    #expect(try await schemaVersion("a") == 4_294_967_295)
    #expect(await put("a", [4], "--schema-version", "0").status == 0)
    #expect(try await schemaVersion("a") == 0)
    #expect(await CommandRun("get", store, "things", "a").output == [4])
  }

  @Test(arguments: ["-1", "4294967296", "one"])
  func `a schema version that no record can have is refused, and nothing is stored`(version: String) async {
    let run = await put("a", [1], "--schema-version", version)
    #expect(run.status == 2)
    #expect(run.errors.contains("from 0 to 4294967295"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a pipe is read like a file`() async throws {
    let path = try folder.pipe("pipe", sending: Self.largeValue)
    let run = await put("a", [], "--file", path)
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a").output == Self.largeValue)
  }

  @Test func `the null device is an empty value`() async {
    let run = await put("a", [1], "--file", "/dev/null")
    #expect(run.status == 0, "\(run.errors)")
    let get = await CommandRun("get", store, "things", "a")
    #expect(get.status == 0)
    #expect(get.output.isEmpty)
  }

  @Test(arguments: ["put", "import", "replay", "stress"])
  func `a folder instead of a file is named in the error`(command: String) async {
    let arguments =
      switch command {
      case "put": ["put", store, "things", "a", "--disk-limit", "1MiB", "--file", folder.path]
      case "import": ["import", store, "things", folder.path, "--disk-limit", "1MiB"]
      case "replay": ["replay", folder.path, "--memory-limit", "1MiB"]
      default: ["stress", "--trace", folder.path]
      }
    let run = await CommandRun(arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains("\(folder.path): it is a folder"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test(arguments: [["put", "a"], ["import"]])
  func `an unreadable standard input is named in the error, and no store is created`(command: [String]) async {
    let arguments = [command[0], store, "things"] + command.dropFirst() + ["--disk-limit", "1MiB"]
    let run = await CommandRun(
      arguments,
      reading: {
        throw TraceError(path: "standard input", line: nil, message: "it is closed")
      })
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input: it is closed"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }
}
