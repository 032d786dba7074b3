import Testing

@testable import StressKit

@Suite struct ArgumentTests {
  @Test(arguments: [
    ["stress", "--duration", "soon"], ["stress", "--duration", "0"], ["stress", "--operations", "-5"],
    ["stress", "--clients", "0"], ["stress", "--clients", "many"], ["stress", "--keys", "0"],
    ["stress", "--value-size", "3"], ["stress", "--memory-limit", "0"], ["stress", "--memory-limit", "-1MiB"],
    ["stress", "--disk-limit", "huge"], ["stress", "--seed", "-1"], ["stress", "--origin", "not an address"],
    ["stress", "--origin", "ftp://host/"], ["stress", "--failure-rate", "150%"], ["stress", "--zipf", "-1"],
    ["stress", "--policy", "best"], ["stress", "--duration", "1", "--operations", "1"],
    ["stress", "--in-process", "--origin", "http://localhost/"], ["stress", "--trace", "t", "--keys", "5"],
    ["stress", "a", "b"], ["stress", "--nonsense"], ["fly"], ["replay"], ["replay", "trace.csv"],
    ["export"], ["export", "store"], ["export", "store", "cache", "--values", "xml"], ["import", "store"],
    ["replay", "trace.csv", "--memory-limit", "lots"], ["replay", "trace.csv", "--memory-limit", "0%"],
    ["replay", "trace.csv", "--memory-limit", "1MiB", "--policy", "belady"],
  ])
  func `nonsense is refused with the exit code for bad input`(arguments: [String]) async {
    let run = await CommandRun(arguments)
    #expect(run.status == 2)
    #expect(!run.errors.isEmpty)
    #expect(run.output.isEmpty)
  }

  @Test(arguments: [
    ["--help"], ["stress", "--help"], ["replay", "--help"], ["stat", "--help"], ["list", "--help"], ["get", "--help"],
    ["put", "--help"], ["remove", "--help"], ["verify", "--help"], ["compact", "--help"], ["export", "--help"],
    ["import", "--help"],
  ])
  func `help is printed to the output with exit code 0`(arguments: [String]) async {
    let run = await CommandRun(arguments)
    #expect(run.status == 0)
    #expect(run.text.contains("USAGE"))
    #expect(run.errors.isEmpty)
  }

  @Test(arguments: [
    ["list", "store", "cache", "--limit", "-5"], ["put", "store", "cache", "key", "--disk-limit", "-5"],
    ["put", "store", "cache", "key", "--expires-after", "-5s"], ["import", "store", "cache", "--disk-limit", "-5"],
    ["replay", "trace.csv", "--memory-limit", "-5"], ["replay", "trace.csv", "--limit", "-5%"],
    ["stress", "--duration", "-5"], ["stress", "--operations", "-5"], ["stress", "--seed", "-5"],
    ["stress", "--clients", "-5"], ["stress", "--keys", "-5"], ["stress", "--value-size", "-5"],
    ["stress", "--zipf", "-5"], ["stress", "--memory-limit", "-5MiB"], ["stress", "--disk-limit", "-5"],
    ["stress", "--reopen-every", "-5"], ["stress", "--latency", "-5ms"], ["stress", "--failure-rate", "-5%"],
  ])
  func `a negative number is refused with an error that describes the allowed values`(arguments: [String]) async {
    let run = await CommandRun(arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains("'\(arguments.last ?? "")'"), "\(run.errors)")
    #expect(!run.errors.contains("Missing value"), "\(run.errors)")
    #expect(
      ["number", "negative", "between", "above"].contains { run.errors.contains($0) },
      "\(run.errors)")
  }

  @Test(arguments: ["get", "put", "remove"])
  func `a key that is not hexadecimal is an error with the usage of its command`(command: String) async {
    let run = await CommandRun(command, "store", "cache", "0", "--hex")
    #expect(run.status == 2)
    #expect(run.errors.contains("hexadecimal"))
    #expect(run.errors.contains("Usage: cistern \(command) "), "\(run.errors)")
  }

  @Test(arguments: [["--version"], ["get", "--version"]])
  func `the version is printed to the output with exit code 0`(arguments: [String]) async {
    let run = await CommandRun(arguments)
    #expect(run.status == 0)
    #expect(run.text == "cistern \(ProgramVersion.number)\n")
  }

  @Test func `missing files are named in errors`() async {
    let trace = await CommandRun("stress", "--trace", "/nonexistent/trace.csv")
    #expect(trace.status == 2)
    #expect(trace.errors.contains("/nonexistent/trace.csv"))
    let folder = await CommandRun("stress", "/nonexistent/folder")
    #expect(folder.status == 2)
    #expect(folder.errors.contains("/nonexistent/folder"))
    let replay = await CommandRun("replay", "/nonexistent/trace.csv", "--memory-limit", "1MiB")
    #expect(replay.status == 2)
    #expect(replay.errors.contains("/nonexistent/trace.csv"))
  }

  @Test(arguments: [["get", "store", "things"], ["get", "store"], ["stat"]])
  func `an argument that is not UTF-8 is refused, and named with escapes`(before: [String]) async {
    let run = await CommandRun(bytes: before.map { Array($0.utf8) } + [[0x61, 0xFF, 0xFE]])
    #expect(run.status == 2)
    #expect(run.errors.contains(#"argument \#(before.count + 1), 'a\xff\xfe', is not valid UTF-8"#), "\(run.errors)")
    #expect(run.errors.contains("--hex"), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test func `arguments that are UTF-8 are used`() async {
    let run = await CommandRun(bytes: [Array("get".utf8), Array("/nonexistent/ü".utf8), [0x61], [0x62]])
    #expect(run.status == 2)
    #expect(run.errors.contains("/nonexistent/ü"), "\(run.errors)")
  }
}
