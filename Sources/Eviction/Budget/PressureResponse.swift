#if canImport(Darwin)
  import Dispatch
#endif

/// Evicts half of the budget's cost each time that the kernel reports memory pressure.
///
/// On Linux, the kernel's pressure stall information triggers the response: tasks of the machine waited for memory
/// for 300 ms within two seconds. On Apple platforms, the memory pressure source triggers it. If neither is
/// available, this object does nothing.
package final class PressureResponse: Sendable {
  #if canImport(Darwin)
    private let source: any DispatchSourceMemoryPressure

    package init(budget: MemoryBudget) {
      let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
      source.setEventHandler { [weak budget] in budget?.releaseHalf() }
      source.activate()
      self.source = source
    }

    deinit {
      source.cancel()
    }
  #else
    private let number: Int

    package init(budget: MemoryBudget) {
      number = PressureWatch.shared.add(budget)
    }

    deinit {
      PressureWatch.shared.remove(number)
    }
  #endif
}

extension MemoryBudget {
  /// Evicts half of the budget's cost.
  func releaseHalf() { trim(toCost: cost / 2) }
}
