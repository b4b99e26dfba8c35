package org.mdm.widgets;

import android.widget.CalendarView;
import android.widget.DatePicker;
import android.widget.NumberPicker;
import android.widget.TimePicker;

/** Pickers of numbers, dates and times. */
public class PickerActivity extends Page {
    @Override
    protected void fill() {
        NumberPicker number = new NumberPicker(this);
        number.setMinValue(0);
        number.setMaxValue(20);
        number.setValue(7);
        add("Number", R.id.number_picker, number);
        DatePicker date = add("Date", R.id.date_picker, new DatePicker(this));
        date.updateDate(2026, 2, 14);
        TimePicker time = add("Time", R.id.time_picker, new TimePicker(this));
        time.setHour(9);
        time.setMinute(41);
        CalendarView calendar = add("Calendar", R.id.calendar, new CalendarView(this));
        calendar.setDate(1_773_446_400_000L);
    }
}
