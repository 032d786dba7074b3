// The program of `scripts/torture`: crashes, shared directories, power cuts, damage, faults and the soak, most of
// them in separate processes.
import Cistern

import Glibc

func argument(_ index: Int) -> String { index < CommandLine.arguments.count ? CommandLine.arguments[index] : "" }

func number(_ index: Int, or other: Int) -> Int { Int(argument(index)) ?? other }

func durability(_ name: String) -> Durability { name == "powerCut" ? .powerCut : .processCrash }

var isFine = true
switch argument(1) {
case "write":
  try await write(
    directory: argument(2), limit: number(3, or: 16 << 20), durability: durability(argument(4)),
    seed: UInt64(argument(5)) ?? 1, operations: number(6, or: .max))
case "crashes":
  isFine = try await crashes(kills: number(2, or: 500), durability: argument(3), seed: UInt64(number(4, or: 1)))
case "power-cuts":
  isFine = try powerCuts(
    runs: number(2, or: 20), images: number(3, or: 25), durability: argument(4), seed: UInt64(number(5, or: 1)),
    recorder: argument(6))
case "damage":
  isFine = try await damage(count: number(2, or: 1000), seed: UInt64(number(3, or: 1)))
case "faults":
  isFine = try faults(count: number(2, or: 200), seed: UInt64(number(3, or: 1)), layer: argument(4))
case "fault":
  isFine = try await faultTrial(directory: argument(2), seed: UInt64(argument(3)) ?? 1)
case "system-faults":
  isFine = try systemFaults(seed: UInt64(number(2, or: 1)))
case "system-fault":
  var trial = SystemTrial(directory: argument(2), seed: UInt64(argument(4)) ?? 1)
  guard let fault = SystemFault(rawValue: argument(3)) else { exit(2) }
  do {
    isFine = try await trial.run(fault)
  } catch {
    say("ended with \(error)")
    isFine = false
  }
case "sharing":
  let kinds = argument(4).split(separator: ",").compactMap { SharingKind(rawValue: String($0)) }
  isFine = try await sharing(
    rounds: number(2, or: 100), seed: UInt64(number(3, or: 1)), kinds: kinds.isEmpty ? SharingKind.allCases : kinds)
case "share":
  guard let kind = SharingKind(rawValue: argument(3)) else { exit(2) }
  var process = try SharingProcess(
    directory: argument(2), kind: kind, process: number(4, or: 0), generation: number(5, or: 0),
    seed: UInt64(argument(6)) ?? 1)
  await process.run(operations: number(7, or: 100))
case "soak":
  isFine = try await soak(seconds: number(2, or: 600), seed: UInt64(number(3, or: 1)))
case "churn":
  isFine = try await churn(seconds: number(2, or: 1_800), seed: UInt64(number(3, or: 1)))
case "check":
  isFine = try await check(
    directory: argument(2), limit: number(3, or: 16 << 20), durability: durability(argument(4)),
    seed: UInt64(argument(5)) ?? 1, flushed: number(6, or: 0), keepsOrder: argument(7) == "ordered")
default:
  say("usage: Torture crashes|sharing|power-cuts|damage|faults …; see scripts/torture --help")
  exit(2)
}
exit(isFine ? 0 : 1)
