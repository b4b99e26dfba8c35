//! The display: its physical size, what `wm` overrides, and how it is turned.

use crate::app::geometry::Screen;

#[derive(Debug, Clone)]
pub struct Display {
    physical_size: (u32, u32),
    physical_density: u32,
    size_override: Option<(u32, u32)>,
    density_override: Option<u32>,
    /// Quarter turns.
    rotation: u8,
}

impl Display {
    pub fn new(physical_size: (u32, u32), physical_density: u32) -> Display {
        Display { physical_size, physical_density, size_override: None, density_override: None, rotation: 0 }
    }

    pub fn physical_size(&self) -> (u32, u32) {
        self.physical_size
    }

    /// Dots per inch.
    pub fn physical_density(&self) -> u32 {
        self.physical_density
    }

    pub fn size_override(&self) -> Option<(u32, u32)> {
        self.size_override
    }

    pub fn override_size(&mut self, size: Option<(u32, u32)>) {
        self.size_override = size;
    }

    pub fn density_override(&self) -> Option<u32> {
        self.density_override
    }

    pub fn override_density(&mut self, density: Option<u32>) {
        self.density_override = density;
    }

    /// Returns quarter turns: 0 is upright.
    pub fn rotation(&self) -> u32 {
        u32::from(self.rotation)
    }

    /// Turns the screen; false when it stays as it is.
    pub fn rotate(&mut self, quarter_turns: u8) -> bool {
        std::mem::replace(&mut self.rotation, quarter_turns % 4) != self.rotation
    }

    /// Returns the screen as apps see it.
    pub fn screen(&self) -> Screen {
        let (mut width, mut height) = self.size_override.unwrap_or(self.physical_size);
        if self.rotation % 2 == 1 {
            std::mem::swap(&mut width, &mut height);
        }
        Screen {
            width: width as i32,
            height: height as i32,
            density: self.density_override.unwrap_or(self.physical_density),
            rotation: self.rotation,
        }
    }
}
