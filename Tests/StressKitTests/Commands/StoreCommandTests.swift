import CisternTesting
import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

@Suite struct StoreCommandTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  private func put(_ key: String, _ value: String, _ more: String...) async {
    let run = await CommandRun(
      ["put", store, "things", key, "--disk-limit", "1MiB"] + more, input: Array(value.utf8))
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func `a put value can be read`() async {
    await put("a", "one")
    await put("b", "")
    let one = await CommandRun("get", store, "things", "a")
    #expect(one.status == 0)
    #expect(one.text == "one")
    let nothing = await CommandRun("get", store, "things", "b")
    #expect(nothing.status == 0)
    #expect(nothing.output.isEmpty)
  }

  @Test func `a file is stored unchanged`() async throws {
    let bytes = (0...255).map { UInt8($0) }
    let file = try folder.file("bytes", bytes)
    await put("bytes", "", "--file", file)
    #expect(await CommandRun("get", store, "things", "bytes").output == bytes)
  }

  @Test func `a missing key gives exit code 1`() async {
    await put("a", "one")
    let run = await CommandRun("get", store, "things", "z")
    #expect(run.status == 1)
    #expect(run.errors.contains("'z'"))
    #expect(await CommandRun("remove", store, "things", "z").status == 1)
    let cache = await CommandRun("get", store, "others", "a")
    #expect(cache.status == 1)
    #expect(cache.errors.contains("things"))
  }

  @Test func `a removed key is absent`() async {
    await put("a", "one")
    await put("b", "two")
    #expect(await CommandRun("remove", store, "things", "a").status == 0)
    #expect(await CommandRun("get", store, "things", "a").status == 1)
    #expect(await CommandRun("get", store, "things", "b").text == "two")
    #expect(await CommandRun("remove", store, "things", "--all").status == 0)
    #expect(await CommandRun("get", store, "things", "b").status == 1)
    #expect(await CommandRun("remove", store, "things").status == 2)
  }

  @Test func `keys are listed by prefix and limit`() async throws {
    for key in ["x/1", "x/2", "x/3", "y/1"] { await put(key, "value") }
    let all = await CommandRun("list", store, "things", "--keys-only")
    #expect(Set(all.text.split(separator: "\n")) == ["x/1", "x/2", "x/3", "y/1"])
    let some = await CommandRun("list", store, "things", "--keys-only", "--prefix", "x/")
    #expect(Set(some.text.split(separator: "\n")) == ["x/1", "x/2", "x/3"])
    let few = await CommandRun("list", store, "things", "--keys-only", "--limit", "2")
    #expect(few.text.split(separator: "\n").count == 2)
    let json = await CommandRun("list", store, "things", "--prefix", "y", "--json")
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
    #expect(entries.first?["key"] as? String == "y/1")
    #expect(entries.first?["bytes"] as? Int == 5)
    #expect(entries.first?["expires"] == nil)
    #expect(await CommandRun("list", store, "things").text.contains("never"))
  }

  @Test func `a list in JSON has the same times as an export`() async throws {
    await put("a", "one", "--expires-after", "1h")
    let list = await CommandRun("list", store, "things", "--json")
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]])
    let export = await CommandRun("export", store, "things")
    let record = try #require(try JSONSerialization.jsonObject(with: Data(export.output)) as? [String: Any])
    for name in ["created", "expires"] {
      let time = try #require(entries.first?[name] as? String)
      #expect(time == record[name] as? String)
      #expect(TimestampText.parse(time) != nil)
    }
  }

  @Test func `a cache is found by its name in any Unicode form`() async {
    for name in ["cafe\u{301}", "caf\u{e9}"] {
      let run = await CommandRun(["put", store, name, name, "--disk-limit", "1MiB"], input: Array(name.utf8))
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(await CommandRun("get", store, "caf\u{e9}", "cafe\u{301}").text == "caf\u{e9}")
    #expect(await CommandRun("list", store, "cafe\u{301}", "--keys-only").text.split(separator: "\n").count == 1)
  }

  @Test func `keys that are not text are given in hexadecimal`() async {
    let run = await CommandRun(
      ["put", store, "things", "00ff5c", "--hex", "--disk-limit", "1MiB"], input: Array("bytes".utf8))
    #expect(run.status == 0)
    #expect(await CommandRun("get", store, "things", "00ff5c", "--hex").text == "bytes")
    #expect(await CommandRun("list", store, "things", "--keys-only").text == "\\x00\\xff\\\\\n")
    #expect(await CommandRun("get", store, "things", "0", "--hex").status == 2)
  }

  @Test func `a value can expire`() async {
    await put("a", "one", "--expires-after", "1ns")
    #expect(await CommandRun("get", store, "things", "a").status == 1)
    #expect(await CommandRun("get", store, "things", "a", "--expired").text == "one")
  }

  @Test func `stat prints caches and sizes`() async throws {
    await put("a", "one")
    let run = await CommandRun("stat", store)
    #expect(run.status == 0)
    #expect(run.text.contains("things"))
    let json = await CommandRun("stat", store, "--json")
    let report = try JSONDecoder().decode(StatCommand.Report.self, from: Data(json.output))
    #expect(report.caches.map(\.name) == ["things"])
    #expect(report.entries == 1)
    #expect(report.fileBytes <= report.limitBytes)
  }

  @Test func `a sound store verifies and a damaged one does not`() async throws {
    for number in 0..<50 { await put("key\(number)", String(repeating: "v", count: 300)) }
    #expect(await CommandRun("verify", store).status == 0)
    let path = URL(fileURLWithPath: store + "/data.mdb")
    var bytes = try Data(contentsOf: path)
    let value = try #require(bytes.range(of: Data(String(repeating: "v", count: 300).utf8), options: .backwards))
    bytes[value.lowerBound + 100] = UInt8(ascii: "w")
    try bytes.write(to: path)
    let run = await CommandRun("verify", store)
    #expect(run.status == 1, "\(run.text)\(run.errors)")
    #expect(run.text.contains("checksum"))
  }

  @Test func `a store with a damaged file is refused and not read`() async throws {
    for number in 0..<50 { await put("key\(number)", String(repeating: "v", count: 300)) }
    let path = URL(fileURLWithPath: store + "/data.mdb")
    var bytes = try Data(contentsOf: path)
    // Every page of a tree has more nodes than a page can hold.
    for page in stride(from: 8192, to: bytes.count, by: 4096) where bytes[page + 10] & 3 != 0 {
      bytes.replaceSubrange(page + 12..<page + 14, with: [0xFE, 0xFF])
    }
    try bytes.write(to: path)
    let verify = await CommandRun("verify", store)
    #expect(verify.status == 1, "\(verify.text)\(verify.errors)")
    #expect(verify.text.contains("damaged"))
    #expect(await CommandRun("stat", store).status == 2)
    #expect(try Data(contentsOf: path) == bytes)
  }

  @Test func `compacting makes the file smaller`() async throws {
    for number in 0..<20 { await put("key\(number)", String(repeating: "v", count: 20_000)) }
    for number in 0..<19 { #expect(await CommandRun("remove", store, "things", "key\(number)").status == 0) }
    let path = store + "/data.mdb"
    let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    #expect(await CommandRun("compact", store).status == 0)
    let after = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    #expect(after < before / 2)
    #expect(await CommandRun("get", store, "things", "key19").output.count == 20_000)
    #expect(await CommandRun("verify", store).status == 0)
  }

  @Test(arguments: ["stat", "verify", "compact"])
  func `a directory without a store is bad input`(command: String) async throws {
    let absent = await CommandRun(command, folder.path + "/absent")
    #expect(absent.status == 2)
    #expect(absent.errors.contains("absent"))
    let empty = await CommandRun(command, folder.path)
    #expect(empty.status == 2)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/data.mdb"))
    let file = await CommandRun(command, try folder.file("file", "text"))
    #expect(file.status == 2)
  }

  @Test func `a file of another format is left unchanged`() async throws {
    await put("a", "one")
    let garbage = [UInt8](repeating: 7, count: 10_000)
    _ = try folder.file("store/data.mdb", garbage)
    #expect(await CommandRun("stat", store).status == 2)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")) == Data(garbage))
  }

  @Test func `an existing store keeps its limit`() async {
    await put("a", "one")
    let run = await CommandRun(["put", store, "things", "b", "--disk-limit", "2MiB"], input: [1])
    #expect(run.status == 2)
    #expect(run.errors.contains("1048576") && run.errors.contains("--disk-limit"))
    #expect(await CommandRun("get", store, "things", "b").status == 1)
  }

  @Test func `a data file without its mark is not reported as absent, and opens with a limit`() async throws {
    await put("a", "one")
    let copy = folder.path + "/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: store + "/data.mdb", toPath: copy + "/data.mdb")
    for command in [["stat"], ["compact"], ["remove", "things", "a"], ["put", "things", "b"]] {
      let run = await CommandRun([command[0], copy] + command.dropFirst(), input: [1])
      #expect(run.status == 2)
      #expect(run.errors.contains("cistern.mark") && run.errors.contains("--disk-limit"), "\(run.errors)")
      #expect(!run.errors.contains("no store"), "\(run.errors)")
    }
    #expect(await CommandRun(["put", copy, "things", "b", "--disk-limit", "1MiB"], input: [1]).status == 0)
    #expect(await CommandRun("get", copy, "things", "a").text == "one")
    #expect(await CommandRun("stat", copy).text.contains("2 entries"))
  }

  @Test(arguments: ["", String(repeating: "n", count: 129)])
  func `a cache with an invalid name is not created`(name: String) async {
    let run = await CommandRun(["put", store, name, "a", "--disk-limit", "1MiB"], input: [1])
    #expect(run.status == 2)
    #expect(run.errors.contains("between 1 and 128"))
  }

  @Test func `without a store, the error names the flag that creates one`() async {
    for directory in [store, folder.path] {
      let run = await CommandRun(["put", directory, "things", "a"], input: [1])
      #expect(run.status == 2)
      #expect(run.errors.contains("--disk-limit"))
    }
  }

  @Test func `equal texts are the same key in any Unicode form`() async {
    await put("e\u{301}", "one")
    let run = await CommandRun("get", store, "things", "\u{e9}")
    #expect(run.text == "one")
    #expect(await CommandRun("list", store, "things", "--keys-only", "--prefix", "e\u{301}").text == "\u{e9}\n")
    #expect(await CommandRun("remove", store, "things", "e\u{301}").status == 0)
  }

  @Test func `a key that is known to be absent gives exit code 1`() async {
    await put("a", "one")
    let line = #"{"key":"b","negative":true}"#
    #expect(await CommandRun(["import", store, "things"], input: Array(line.utf8)).status == 0)
    let run = await CommandRun("get", store, "things", "b")
    #expect(run.status == 1)
    #expect(run.errors.contains("nothing"))
  }

  @Test func `output that cannot be written ends a command with an error`() async throws {
    await put("a", "one")
    let errors = Recorder<[UInt8]>()
    let console = Console(
      write: { _ in }, writeError: { errors.record($0) }, readNext: { [] }, isTerminal: false,
      outputState: { .failed("no space") })
    let arguments = ["get", store, "things", "a"]
    let status = await Console.$current.withValue(console) { await CisternProgram.run(arguments) }
    #expect(status == 2)
    #expect(String(decoding: errors.elements.joined(), as: UTF8.self).contains("no space"))
  }
}
