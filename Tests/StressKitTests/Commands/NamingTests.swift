import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

/// Names and paths in the output of commands.
@Suite struct NamingTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  @Test func `control bytes in the name of a cache are escaped, as those of keys are`() async throws {
    #expect(await CommandRun(["put", store, "a\nb\u{1B}c", "k", "--disk-limit", "1MiB"], input: [1]).status == 0)
    let stat = await CommandRun("stat", store)
    #expect(stat.text.contains(#"a\x0ab\x1bc"#), "\(stat.text)")
    #expect(!stat.text.contains("\u{1B}"))
    let absent = await CommandRun("list", store, "other")
    #expect(absent.errors.contains(#"'a\x0ab\x1bc'"#), "\(absent.errors)")
    let json = await CommandRun("stat", store, "--json")
    let report = try JSONDecoder().decode(StatCommand.Report.self, from: Data(json.output))
    #expect(report.caches.map(\.name) == ["a\nb\u{1B}c"])
  }

  @Test func `control bytes in a tag are escaped in a list`() async {
    let line = #"{"key":"k","text":"x","tags":["t\u001b"]}"#
    #expect(await CommandRun(["import", store, "things", "--disk-limit", "1MiB"], input: Array(line.utf8)).status == 0)
    #expect(await CommandRun("list", store, "things").text.contains(#"t\x1b"#))
  }

  @Test(arguments: [
    #"C:\data\new.txt"#, #"C:\xampp"#, #"C:\tea"#, #"\\server\"#, #"\x0"#, "caf\u{e9}", "e\u{301}", "a b",
  ])
  func `a printable key is listed in the form that get and remove accept`(key: String) async throws {
    #expect(await CommandRun(["put", store, key, key, "--disk-limit", "1MiB"], input: [1]).status == 0)
    let listed = await CommandRun("list", store, key, "--keys-only").text
    #expect(listed == key + "\n")
    let name = String(listed.dropLast())
    #expect(await CommandRun("get", store, name, name).output == [1])
    #expect(await CommandRun("stat", store).text.contains(key))
    let json = await CommandRun("list", store, key, "--json")
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
    #expect(entries.first?["key"] as? String == key)
    #expect(await CommandRun("remove", store, name, name).status == 0)
  }

  @Test func `different keys are listed as different texts`() async throws {
    // Texts that look like escapes, and the keys that they would be escapes of.
    let keys: [[UInt8]] = [
      [0xFF], Array(#"\xff"#.utf8), Array(#"\\xff"#.utf8), Array(#"\xFF"#.utf8), [0x5C, 0xFF], Array("\u{e9}".utf8),
      Array("e\u{301}".utf8), Array(#"e\xcc\x81"#.utf8), [0x0A], Array(#"\n"#.utf8),
    ]
    for key in keys {
      let run = await CommandRun(
        ["put", store, "things", KeyText.hexadecimal(key), "--hex", "--disk-limit", "1MiB"], input: key)
      #expect(run.status == 0, "\(run.errors)")
    }
    let listed = await CommandRun("list", store, "things", "--keys-only").text.split(separator: "\n")
    #expect(listed.count == keys.count)
    #expect(Set(listed.map { Array($0.utf8) }).count == keys.count, "\(listed)")
    // `get` would compose this key, so it is not listed as text.
    #expect(listed.contains(#"e\xcc\x81"#), "\(listed)")
    let json = await CommandRun("list", store, "things", "--json")
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
    for entry in entries {
      let run = await CommandRun("get", store, "things", try #require(entry["keyHex"] as? String), "--hex")
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test func `a list of keys as JSON is refused`() async {
    #expect(await CommandRun(["put", store, "things", "a", "--disk-limit", "1MiB"], input: [1]).status == 0)
    let run = await CommandRun("list", store, "things", "--keys-only", "--json")
    #expect(run.status == 2)
    #expect(run.errors.contains("--keys-only prints text") && run.output.isEmpty, "\(run.errors)")
  }

  @Test func `a path that is no directory is described by what it is`() async throws {
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: folder.path + "/loop", withDestinationPath: folder.path + "/loop")
    try manager.createSymbolicLink(atPath: folder.path + "/dangling", withDestinationPath: "nowhere")
    _ = try folder.file("file", "text")
    let complaints = [
      "loop": "leads back to itself", "dangling": "is a symbolic link to 'nowhere', which does not exist",
      "absent": "does not exist", "file/below": "cannot be examined",
    ]
    for (name, complaint) in complaints {
      let run = await CommandRun("stat", folder.path + "/" + name)
      #expect(run.status == 2)
      #expect(run.errors.contains(complaint), "\(run.errors)")
    }
  }
}
